// SPDX-License-Identifier: BSD-2-Clause
// 3x3 convolutions by Winograd's transforms (rules_winograd.c).
#ifndef TAPER_BACKENDS_GPU_WINOGRAD_H
#define TAPER_BACKENDS_GPU_WINOGRAD_H

#include "backends/gpu/layer_parts.h"

// Returns true if Winograd's transforms can compute the convolution.
bool taper_gpu_winograd_can(const taper_gpu_layer *l, const int64_t *stride, const int64_t *dilation);
// Returns true if the result has enough tiles and all data fits. Each of the 36 products reads separate weights. If
// there are few tiles, this costs more time than the saved multiplications.
bool taper_gpu_winograd_pays(const taper_gpu_emitter *e, const taper_gpu_layer *l, const taper_gpu_loops *loops);
// Emits the convolution. `strides` contains the strides of images, rows and columns of `in`; `sizes` contains the
// numbers of rows and columns of `in`. `loops` describes the loops over the result.
TAPER_MUST_USE taper_status taper_gpu_winograd(taper_gpu_emitter *e, taper_gpu_layer *l, const taper_gpu_view *in,
                                               const int64_t *strides, const int64_t *sizes, const int64_t *padding,
                                               const taper_gpu_view *out, const taper_gpu_loops *loops,
                                               const taper_gpu_chain *chain);

#endif
