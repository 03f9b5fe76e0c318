// SPDX-License-Identifier: BSD-2-Clause
// Statistics of float channels that are neighbours (norm_channels.c).
#ifndef TAPER_OPS_NN_NORM_NEIGHBOURS_H
#define TAPER_OPS_NN_NORM_NEIGHBOURS_H

#include "ops/nn/norm.h"

// As taper_norm_planes. TAPER_DECLINED: of others.
TAPER_MUST_USE taper_status taper_norm_channels(const taper_norm *norm, double *mean, double *squares);

#endif
