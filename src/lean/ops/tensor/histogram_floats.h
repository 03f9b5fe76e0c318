// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/tensor/histogram_floats.h: small builds omit this code.
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
