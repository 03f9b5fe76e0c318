// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/histogram_floats.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_HISTOGRAM_FLOATS_H
#define TAPER_OPS_TENSOR_HISTOGRAM_FLOATS_H

static inline void count_floats(taper_run *run, const histogram *h, float *counts)
{
    (void)run, (void)h, (void)counts;
}

static inline bool are_floats(const histogram *h, taper_dtype dtype)
{
    (void)h, (void)dtype;
    return false;
}

#endif
