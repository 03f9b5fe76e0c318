// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/pool_avg_pixels.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_POOL_AVG_PIXELS_H
#define TAPER_OPS_NN_POOL_AVG_PIXELS_H

static inline taper_reduce_rows_f32_function *find_add(const avg_work *work)
{
    (void)work;
    return NULL;
}

#endif
