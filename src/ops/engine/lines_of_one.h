// SPDX-License-Identifier: BSD-2-Clause
// Operators along a dimension whose lines have one element each.
#ifndef TAPER_OPS_ENGINE_LINES_OF_ONE_H
#define TAPER_OPS_ENGINE_LINES_OF_ONE_H

#include "ops/engine/reduce.h"

// Writes the results of sorting, extremes and similar operators for lines of one element: the elements to values, zeros
// to positions. values may be NULL. Both tensors are dense and have x's dimensions, without `dim` unless `keep` is set.
// Returns false if the lines have more than one element.
bool taper_lines_of_one(taper_run *run, const taper_tensor *x, size_t dim, bool keep, taper_tensor *values,
                        taper_tensor *positions);

#endif
