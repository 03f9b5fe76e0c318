// SPDX-License-Identifier: BSD-2-Clause
// Lines of one element.
#ifndef TAPER_OPS_ENGINE_LINES_OF_ONE_H
#define TAPER_OPS_ENGINE_LINES_OF_ONE_H

#include "ops/engine/reduce.h"

// Values (NULL: not wanted) and positions that sorting, extremes and their kin give of lines of one element: these, and
// zeros. Both are dense and have x's dimensions, or without dim (keep: with it). False: the lines are longer.
bool taper_lines_of_one(taper_run *run, const taper_tensor *x, size_t dim, bool keep, taper_tensor *values,
                        taper_tensor *positions);

#endif
