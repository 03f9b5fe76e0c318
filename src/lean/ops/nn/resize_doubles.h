// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/resize_doubles.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_RESIZE_DOUBLES_H
#define TAPER_OPS_NN_RESIZE_DOUBLES_H

static inline bool has_doubles(taper_dtype dtype)
{
    (void)dtype;
    return false;
}

static inline void weighted_f64(taper_run *run, const taper_resize_axis *axes, int64_t group, const taper_volume *x,
                                const double *in, const taper_volume *y, double *out, double *rows)
{
    (void)run, (void)axes, (void)group, (void)x, (void)in, (void)y, (void)out, (void)rows;
}

#endif
