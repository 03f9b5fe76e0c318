// SPDX-License-Identifier: BSD-2-Clause
// Counts of floats in few bins.
#ifndef TAPER_OPS_TENSOR_COUNT_BINS_H
#define TAPER_OPS_TENSOR_COUNT_BINS_H

#include "ops/call/call.h"

// Of floats, into few bins: bins of a block by loops without jumps, counted by counters that do not wait for each
// other. False: nothing was done.
bool taper_count_bins(taper_run *run, const float *x, int64_t count, float low, float high, int64_t bins,
                      float *result);

#endif
