// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of contiguous float tensors, computed plane by plane: convolutions of volumes, and transposed
// convolutions of one or two dimensions with few output channels.
#ifndef TAPER_CPU_CONV_VOLUME_H
#define TAPER_CPU_CONV_VOLUME_H

#include "ops/nn/conv.h"

// Returns true if this algorithm supports the convolution and is faster than the other algorithms.
bool taper_conv_volume_does(const taper_call *call, const taper_conv_args *args);
TAPER_MUST_USE taper_status taper_conv_volume(taper_call *call, const taper_conv_args *args);

// For the convolutions of taper_conv_volume_does: returns true if their planes are so small that products over
// neighbouring channels are faster.
bool taper_conv_volume_is_dense(const taper_call *call, const taper_conv_args *args);
TAPER_MUST_USE taper_status taper_conv_volume_dense(taper_call *call, const taper_conv_args *args);

#endif
