// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/grid_sample_planes.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_GRID_SAMPLE_PLANES_H
#define TAPER_OPS_NN_GRID_SAMPLE_PLANES_H

static inline void sample_planes(const grid_work *work, int64_t n, int64_t d, int64_t h, int64_t w, int64_t count)
{
    (void)work, (void)n, (void)d, (void)h, (void)w, (void)count;
}

static inline bool has_planes(const grid_work *work)
{
    (void)work;
    return false;
}

#endif
