// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic in doubles that rounds each step to float if the tensor contains floats.
#ifndef TAPER_BASE_SINGLE_H
#define TAPER_BASE_SINGLE_H

#include <stdbool.h>

// Returns the number, rounded to float if `single` is true. GCC 12 at -O2 drops the rounding if two expressions `single
// ? (double)(float)number : number` are next to each other (scripts/check_names.py finds such text). The lookup in a
// table prevents that.
static inline double taper_step(bool single, double number)
{
    const double both[] = {number, (double)(float)number};
    return both[single];
}

#endif
