// SPDX-License-Identifier: BSD-2-Clause
// What quantized convolutions and linear layers share: the pack of a layer, and the numbers that depend on the scales
// of input and result, which other operators may change from run to run and so are not part of the pack.
#ifndef TAPER_OPS_QUANTIZED_PACK_H
#define TAPER_OPS_QUANTIZED_PACK_H

#include "ops/call/packs.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_params.h"

// A pack: arrays of a number per place (an output channel in the kernel's order; the others are padding), then the
// weights as the kernel wants them.
typedef struct taper_i8_layer {
    size_t places;
    double *weight_scale;
    float *bias;
    int32_t *sums; // of the channel's weights
    int8_t *weights;
} taper_i8_layer;

// Bytes of a pack; 0 when it does not fit size_t.
size_t taper_i8_layer_bytes(size_t places, size_t weight_bytes);
taper_i8_layer taper_i8_layer_of(void *pack, size_t places);

// Is every zero point of the weights 0? Others are left to the reference.
bool taper_i8_is_symmetric(const taper_tensor *weight);
// The key of a pack of these tensors; numbers from 1 on are the caller's.
void taper_i8_pack_key(const void *kind, taper_tensor *weight, taper_tensor *bias, taper_pack_request *request);
// Fills weight_scale and bias: of channel c at place_of(context, c), 0 <= c < channels.
void taper_i8_fill_channels(const taper_i8_layer *layer, const taper_tensor *weight, const taper_tensor *bias,
                            size_t channels, size_t (*place_of)(const void *context, size_t channel),
                            const void *context);

// For every place: what the sums start with and the factor after them, for an input with this scale and zero point
// from which the kernel subtracts `shift`. out_scale 0: for results in float, without the bias. False when a factor
// is not positive and normal (the reference says what is wrong), or is 1 or more where the kernels want less.
bool taper_i8_layer_fold(const taper_i8_layer *layer, double in_scale, int32_t in_zero_point, uint32_t shift,
                         double out_scale, int32_t *bias, float *factor);

#endif
