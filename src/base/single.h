// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic in doubles whose steps are rounded as floats are, where a tensor holds floats.
#ifndef TAPER_BASE_SINGLE_H
#define TAPER_BASE_SINGLE_H

#include <stdbool.h>

// The number as a float holds it, where single. Written as `single ? (double)(float)number : number`, GCC 12 drops the
// rounding of two of them side by side at -O2 (scripts/check_names.py finds such text); of a table it takes the item.
static inline double taper_step(bool single, double number)
{
    const double both[] = {number, (double)(float)number};
    return both[single];
}

#endif
