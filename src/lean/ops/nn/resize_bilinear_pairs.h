// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/resize_bilinear_pairs.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_RESIZE_BILINEAR_PAIRS_H
#define TAPER_OPS_NN_RESIZE_BILINEAR_PAIRS_H

static inline void stretch_rows(const bilinear_job *job, const float *restrict upper, const float *restrict lower,
                                float weight, float *restrict out)
{
    (void)job, (void)upper, (void)lower, (void)weight, (void)out;
}

static inline bool are_pairs(const bilinear_job *job)
{
    (void)job;
    return false;
}

#endif
