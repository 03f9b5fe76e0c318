// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/conv_fold_floats.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_CONV_FOLD_FLOATS_H
#define TAPER_OPS_NN_CONV_FOLD_FLOATS_H

static inline void scatter_floats(const patches *p, const char *rows, int64_t row_step, float *plane)
{
    (void)p, (void)rows, (void)row_step, (void)plane;
}

static inline bool lies_apart(taper_dtype dtype, const patches *p, int64_t step)
{
    (void)dtype, (void)p, (void)step;
    return false;
}

#endif
