// SPDX-License-Identifier: BSD-2-Clause
// Pools of floats whose channels are planes (NCHW, NCDHW, NCL).
#ifndef TAPER_OPS_POOL_PLANES_H
#define TAPER_OPS_POOL_PLANES_H

#include "ops/nn/pool.h"

typedef struct taper_pool_planes {
    const taper_pooling *pooling;
    taper_volume x, y;
    const float *in;
    float *out;
    bool max;                                // else averages
    bool count_padding;                      // of averages
    int64_t divisor;                         // of averages; 0: by the window
    const struct taper_vector_entry *vector; // set inside
} taper_pool_planes;

// Declines other layouts, windows without an element, very wide ones, and averages of windows so large that floats
// would not do for their sums.
TAPER_MUST_USE taper_status taper_pool_planes_run(taper_run *run, const taper_pool_planes *job);

#endif
