// SPDX-License-Identifier: BSD-2-Clause
// Statistics of channels of floats that are contiguous (norm_channels.c).
#ifndef TAPER_OPS_NN_NORM_NEIGHBOURS_H
#define TAPER_OPS_NN_NORM_NEIGHBOURS_H

#include "ops/nn/norm.h"

// Does the work of taper_norm_planes. Returns TAPER_DECLINED if channels are not contiguous floats.
TAPER_MUST_USE taper_status taper_norm_channels(const taper_norm *norm, double *mean, double *squares);

#endif
