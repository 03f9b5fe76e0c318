// SPDX-License-Identifier: BSD-2-Clause
// Functions that quantized convolutions and linear layers share: they make a layer's pack, and the numbers that depend
// on the scales of input and result. Other operators may change these scales from run to run, so the numbers are not in
// the pack.
#ifndef TAPER_OPS_QUANTIZED_PACK_H
#define TAPER_OPS_QUANTIZED_PACK_H

#include "ops/call/packs.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized_params.h"

// A pack contains arrays with one number for each channel, then the weights in the kernel's order. The arrays have
// `places` entries: the output channels in the kernel's order, and padding.
typedef struct taper_i8_layer {
    size_t places;
    double *weight_scale;
    float *bias;
    int32_t *sums; // sum of the channel's weights
    int8_t *weights;
} taper_i8_layer;

// Returns the number of bytes of a pack, or 0 if it does not fit into size_t.
size_t taper_i8_layer_bytes(size_t places, size_t weight_bytes);
taper_i8_layer taper_i8_layer_of(void *pack, size_t places);

// Returns true if every zero point of the weights is 0. The reference code computes layers with other zero points.
bool taper_i8_is_symmetric(const taper_tensor *weight);
// Fills the key of a pack of these tensors, including its numbers[0]. The caller sets the other numbers of the key.
void taper_i8_pack_key(const void *kind, taper_tensor *weight, taper_tensor *bias, taper_pack_request *request);
// Fills weight_scale and bias for 0 <= c < channels. The entry for channel c is at index place_of(context, c).
void taper_i8_fill_channels(const taper_i8_layer *layer, const taper_tensor *weight, const taper_tensor *bias,
                            size_t channels, size_t (*place_of)(const void *context, size_t channel),
                            const void *context);

// Computes for each channel the initial value of the sum, and the factor by which the sum is multiplied afterwards. The
// input has this scale and zero point, and the kernel subtracts `shift` from the input. If out_scale is 0, the results
// are floats, and the bias is not included. Returns false if a factor is not positive and normal (the reference code
// reports it), or if it is 1 or more and the kernels require less.
bool taper_i8_layer_fold(const taper_i8_layer *layer, double in_scale, int32_t in_zero_point, uint32_t shift,
                         double out_scale, int32_t *bias, float *factor);

#endif
