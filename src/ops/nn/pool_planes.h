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
    taper_volume where; // sizes and strides of the indices
    int64_t *indices;   // for maxima: receives the position of the first maximum, or of the last NaN; NULL if positions
                        // are not wanted
    bool max;           // true for maxima, false for averages
    bool count_padding; // for averages: true if the divisor counts padding
    // For averages: true if the sum is divided by the window's sizes one after the other, as PyTorch does for adaptive
    // pools.
    bool adaptive;
    int64_t divisor; // for averages: the divisor, or 0 for the window's size
    // taper_pool_planes_run sets the members below: the kernels, the kernel that adds whole planes, the windows of each
    // axis, and the windows [inner, outer) of a row that are completely inside the input.
    const struct taper_vector_entry *vector;
    taper_reduce_vector adder;
    const taper_pool_window *windows[3];
    int64_t inner, outer;
} taper_pool_planes;

// Returns the divisor of a window's sum if a single number is used.
static inline float taper_pool_divisor(const taper_pool_planes *job, const taper_pool_window *d,
                                       const taper_pool_window *h, const taper_pool_window *w)
{
    return job->divisor != 0    ? (float)job->divisor
           : job->count_padding ? (float)((double)d->padded * (double)h->padded * (double)w->padded)
                                : (float)(d->taps * h->taps * w->taps);
}

// taper_pool_narrow_run pools many small planes together, one in each lane of a vector (pool_narrow.c).
// taper_pool_is_narrow returns true if this is faster than row by row, because rows are shorter than vectors.
// job->windows must be set.
bool taper_pool_is_narrow(const taper_pool_planes *job);
TAPER_MUST_USE taper_status taper_pool_narrow_run(taper_run *run, const taper_pool_planes *job);

// Computes the pool. Returns TAPER_DECLINED for other layouts, for windows without an element, and for very wide
// windows. Averages of large windows are declined too, because their sums need doubles, unless a window is the whole
// plane.
TAPER_MUST_USE taper_status taper_pool_planes_run(taper_run *run, const taper_pool_planes *job);

#endif
