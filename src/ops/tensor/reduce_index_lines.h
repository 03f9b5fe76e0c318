// SPDX-License-Identifier: BSD-2-Clause
// Positions of maxima and minima, for floats and integers that are read in place.
#ifndef TAPER_OPS_TENSOR_REDUCE_INDEX_LINES_H
#define TAPER_OPS_TENSOR_REDUCE_INDEX_LINES_H

#include "ops/call/call.h"

// Finds the extremes of lines and their positions. Returns false, with nothing done, if the tensor needs another
// method. Otherwise *status is the outcome.
bool taper_pick_lines(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep, taper_tensor *values,
                      taper_tensor *indices, taper_status *status);

#endif
