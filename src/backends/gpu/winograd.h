// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of 3x3 by Winograd's transforms (rules_winograd.c).
#ifndef TAPER_BACKENDS_GPU_WINOGRAD_H
#define TAPER_BACKENDS_GPU_WINOGRAD_H

#include "backends/gpu/layer_parts.h"

// Whether it is one.
bool taper_gpu_winograd_can(const taper_gpu_layer *l, const int64_t *stride, const int64_t *dilation);
// Whether a result has places enough (each product reads weights of its own, which few places do not pay for), and all
// of it has room.
bool taper_gpu_winograd_pays(const taper_gpu_emitter *e, const taper_gpu_layer *l, const taper_gpu_loops *loops);
// in: strides of images, rows and columns; sizes of rows and columns. loops: of the result.
TAPER_MUST_USE taper_status taper_gpu_winograd(taper_gpu_emitter *e, taper_gpu_layer *l, const taper_gpu_view *in,
                                               const int64_t *strides, const int64_t *sizes, const int64_t *padding,
                                               const taper_gpu_view *out, const taper_gpu_loops *loops,
                                               const taper_gpu_chain *chain);

#endif
