// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/norm_neighbours.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_NORM_NEIGHBOURS_H
#define TAPER_OPS_NN_NORM_NEIGHBOURS_H

#include "ops/nn/norm.h"

static inline taper_status taper_norm_channels(const taper_norm *norm, double *mean, double *squares)
{
    (void)norm, (void)mean, (void)squares;
    return TAPER_DECLINED;
}

#endif
