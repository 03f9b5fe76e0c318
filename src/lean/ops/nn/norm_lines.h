// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/norm_lines.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_NORM_LINES_H
#define TAPER_OPS_NN_NORM_LINES_H

static inline bool follow_each_other(const taper_volume *x)
{
    (void)x;
    return false;
}

static inline bool group_of_floats(norm_work *work, int64_t at, int64_t first, int64_t count, double mean,
                                   double inverse, const norm_param *weight, const norm_param *bias)
{
    (void)work, (void)at, (void)first, (void)count, (void)mean, (void)inverse, (void)weight, (void)bias;
    return false;
}

#endif
