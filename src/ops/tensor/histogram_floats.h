// SPDX-License-Identifier: BSD-2-Clause
// Part of histogram.c: floats in bins of equal width.
#ifndef TAPER_OPS_TENSOR_HISTOGRAM_FLOATS_H
#define TAPER_OPS_TENSOR_HISTOGRAM_FLOATS_H

// Counts floats in bins of equal width. The width of a bin gives a first guess, and the edges of the bin correct it by
// at most one. There is no branch, because a branch would be unpredictable.
static void count_floats(taper_run *run, const histogram *h, float *counts)
{
    const int64_t edge_count = h->edges[0]->sizes[0];
    const float *edges = taper_tensor_data(h->edges[0]), *x = taper_tensor_data(h->points);
    const float low = edges[0], high = edges[edge_count - 1], width = high - low, bins = (float)(edge_count - 1);
    for (int64_t row = 0; row < h->rows && taper_run_step(run, row, 10); row++) {
        const float v = x[row];
        if (!(v >= low && v <= high)) {
            continue;
        }
        const float place = (v - low) / width * bins;
        // `place` may overflow for a huge range; the guess is then 0.
        const int64_t guess = place >= 0 && place < (float)edge_count ? (int64_t)place : 0;
        const int64_t first = taper_max_i64(0, guess - 1), last = taper_min_i64(guess + 2, edge_count);
        int64_t bin = first - 1;
        for (int64_t i = first; i < last; i++) {
            bin += edges[i] <= v;
        }
        counts[bin == edge_count - 1 ? bin - 1 : bin] += 1;
    }
}

static bool are_floats(const histogram *h, taper_dtype dtype)
{
    return dtype == TAPER_F32 && h->count == 1 && h->even && h->weights == NULL;
}

#endif
