// SPDX-License-Identifier: BSD-2-Clause
// Pools of floats whose channels are planes (NCHW, NCDHW, NCL).
#ifndef TAPER_OPS_POOL_PLANES_H
#define TAPER_OPS_POOL_PLANES_H

#include "ops/engine/reduce_vector.h"
#include "ops/nn/pool.h"

typedef struct taper_pool_planes {
    const taper_pooling *pooling;
    taper_volume x, y;
    const float *in;
    float *out;
    taper_volume where; // of indices
    int64_t *indices;   // of maxima: the positions of the first of the greatest, of the last NaN; NULL: not wanted
    bool max;           // else averages
    bool count_padding; // of averages
    bool adaptive;      // averages are divided by the sizes of the window one after the other, as PyTorch does there
    int64_t divisor;    // of averages; 0: by the window
    // Set inside: what computes, and adds whole planes; the windows of each axis; those of a row that have all their
    // taps in the input, [inner, outer).
    const struct taper_vector_entry *vector;
    taper_reduce_vector adder;
    const taper_pool_window *windows[3];
    int64_t inner, outer;
} taper_pool_planes;

// By what the sum of a window is divided, where that is one number.
static inline float taper_pool_divisor(const taper_pool_planes *job, const taper_pool_window *d,
                                       const taper_pool_window *h, const taper_pool_window *w)
{
    return job->divisor != 0    ? (float)job->divisor
           : job->count_padding ? (float)((double)d->padded * (double)h->padded * (double)w->padded)
                                : (float)(d->taps * h->taps * w->taps);
}

// Small planes, many of them side by side as lanes (pool_narrow.c): faster than row by row where rows are shorter than
// vectors. The windows are known.
bool taper_pool_is_narrow(const taper_pool_planes *job);
TAPER_MUST_USE taper_status taper_pool_narrow_run(taper_run *run, const taper_pool_planes *job);

// Declines other layouts, windows without an element, very wide ones, and averages of windows so large that floats
// would not do for their sums, unless they are the whole plane.
TAPER_MUST_USE taper_status taper_pool_planes_run(taper_run *run, const taper_pool_planes *job);

#endif
