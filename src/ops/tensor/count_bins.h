// SPDX-License-Identifier: BSD-2-Clause
// Counts floats in few bins.
#ifndef TAPER_OPS_TENSOR_COUNT_BINS_H
#define TAPER_OPS_TENSOR_COUNT_BINS_H

#include "ops/call/call.h"

// Counts floats of [low, high] in a few bins of equal width. The bins of a block of floats are computed without
// branches. Several counters per bin keep an addition from waiting for the previous one. Returns false, with nothing
// done, if there are too many bins.
bool taper_count_bins(taper_run *run, const float *x, int64_t count, float low, float high, int64_t bins,
                      float *result);

#endif
