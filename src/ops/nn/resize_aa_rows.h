// SPDX-License-Identifier: BSD-2-Clause
// Part of resize_loops.c: rows of an antialiased plane, several at a time.
#ifndef TAPER_OPS_NN_RESIZE_AA_ROWS_H
#define TAPER_OPS_NN_RESIZE_AA_ROWS_H

enum { AA_ROWS = 8 };

// Resizes AA_ROWS rows along the width. Their sums are independent, so the CPU overlaps them.
static void aa_rows(const taper_resize_axis *wide, const float *in, const taper_volume *x, float *restrict out)
{
    const int64_t down = x->stride[1], stride = x->stride[2];
    for (int64_t w = 0; w < wide->output; w++) {
        const double *weight = wide->weight + w * wide->taps;
        const float *from = in + wide->index[w * wide->taps] * stride; // the positions that are read are consecutive
        float sums[AA_ROWS] = {0};
        for (int64_t t = 0; t < wide->count[w]; t++, from += stride) {
            const float factor = (float)weight[t];
            for (int64_t r = 0; r < AA_ROWS; r++) {
                sums[r] += factor * from[r * down];
            }
        }
        for (int64_t r = 0; r < AA_ROWS; r++) {
            out[r * wide->output + w] = sums[r];
        }
    }
}

// Resizes rows in groups of AA_ROWS, as long as groups are complete. Returns the number of rows that are done.
static int64_t aa_many(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const float *in,
                       float *scratch)
{
    const taper_resize_axis *wide = &axes[2], *high = &axes[1];
    int64_t done = 0;
    for (; done + AA_ROWS <= high->input && taper_run_goes_on(run, (uint64_t)(wide->output * wide->taps) * AA_ROWS);
         done += AA_ROWS) {
        aa_rows(wide, in + done * x->stride[1], x, scratch + done * wide->output);
    }
    return done;
}

#endif
