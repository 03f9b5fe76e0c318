// SPDX-License-Identifier: BSD-2-Clause
// Counts floats in few bins.
#ifndef TAPER_OPS_TENSOR_COUNT_BINS_H
#define TAPER_OPS_TENSOR_COUNT_BINS_H

#include "ops/call/call.h"

// Counts floats of [low, high] in few bins of equal width. A block's bins are computed without branches. Independent
// counters avoid waits of an addition for the one before. Returns false, with nothing done, if there are too many bins.
bool taper_count_bins(taper_run *run, const float *x, int64_t count, float low, float high, int64_t bins,
                      float *result);

#endif
