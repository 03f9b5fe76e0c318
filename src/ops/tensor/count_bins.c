// SPDX-License-Identifier: BSD-2-Clause
// Counts of floats in few bins.
#include "ops/tensor/count_bins.h"
#include <math.h>

// Computes the bins of a block of floats without branches. Four counters per bin keep an addition from waiting for the
// previous one.
bool taper_count_bins(taper_run *run, const float *x, int64_t count, float low, float high, int64_t bins, float *result)
{
    enum { MOST_BINS = 256, BLOCK = 256, COUNTERS = 4, FLOAT_DIGITS = 24 };
    if (run->portable || bins > MOST_BINS || count >= UINT32_MAX || !isfinite(high - low)) {
        return false;
    }
    uint32_t counted[COUNTERS][MOST_BINS + 1] = {{0}}; // entry 0 counts elements outside the range
    const float span = high - low, last = (float)(bins - 1);
    for (int64_t at = 0; at < count && taper_run_goes_on(run, BLOCK * 8); at += BLOCK) {
        const int64_t n = taper_min_i64(BLOCK, count - at);
        int32_t bin[BLOCK];
        for (int64_t i = 0; i < n; i++) {
            const float v = x[at + i], place = (v - low) / span * (float)bins;
            const float inside = place < last ? place : last; // the last bin includes `high`
            bin[i] = (int32_t)(((v >= low) & (v <= high)) ? inside + 1 : 0.0f);
        }
        for (int64_t i = 0; i < n; i++) {
            counted[i % COUNTERS][bin[i]]++;
        }
    }
    for (int64_t b = 0; b < bins; b++) { // a count is at most 2^24, at which PyTorch's float stops changing
        const uint64_t sum =
            (uint64_t)counted[0][b + 1] + counted[1][b + 1] + ((uint64_t)counted[2][b + 1] + counted[3][b + 1]);
        result[b] = (float)(sum < UINT64_C(1) << FLOAT_DIGITS ? sum : UINT64_C(1) << FLOAT_DIGITS);
    }
    return true;
}
