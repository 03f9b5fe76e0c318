// SPDX-License-Identifier: BSD-2-Clause
// Places of extremes: floats and whole numbers as they lie in memory.
#ifndef TAPER_OPS_TENSOR_REDUCE_INDEX_LINES_H
#define TAPER_OPS_TENSOR_REDUCE_INDEX_LINES_H

#include "ops/call/call.h"

// Both.
bool taper_pick_lines(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep, taper_tensor *values,
                      taper_tensor *indices, taper_status *status);

#endif
