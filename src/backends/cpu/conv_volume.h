// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of floats in one to three dimensions that lie in PyTorch's order, over planes: those of volumes, and
// transposed ones to few channels.
#ifndef TAPER_CPU_CONV_VOLUME_H
#define TAPER_CPU_CONV_VOLUME_H

#include "ops/nn/conv.h"

// Whether it computes this one, and is faster than what else there is.
bool taper_conv_volume_does(const taper_call *call, const taper_conv_args *args);
TAPER_MUST_USE taper_status taper_conv_volume(taper_call *call, const taper_conv_args *args);

// Of the same ones: whether their planes are so small that products of neighbouring channels are faster.
bool taper_conv_volume_is_dense(const taper_call *call, const taper_conv_args *args);
TAPER_MUST_USE taper_status taper_conv_volume_dense(taper_call *call, const taper_conv_args *args);

#endif
