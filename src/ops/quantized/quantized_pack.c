// SPDX-License-Identifier: BSD-2-Clause
// Packs of quantized layers, and the biases and factors that depend on a run's scales.
#include "ops/quantized/quantized_pack.h"

#include <float.h>

enum { ALIGN = 64 };

static size_t head_bytes(size_t places)
{
    return (places * (sizeof(double) + sizeof(float) + sizeof(int32_t)) + ALIGN - 1) / ALIGN * ALIGN;
}

size_t taper_i8_layer_bytes(size_t places, size_t weight_bytes)
{
    if (places == 0 || weight_bytes == 0 || places > SIZE_MAX / 64) {
        return 0;
    }
    const size_t head = head_bytes(places);
    return weight_bytes > SIZE_MAX / 2 - head ? 0 : head + weight_bytes;
}

taper_i8_layer taper_i8_layer_of(void *pack, size_t places)
{
    taper_i8_layer layer = {.places = places, .weight_scale = pack};
    layer.bias = (float *)(layer.weight_scale + places);
    layer.sums = (int32_t *)(void *)(layer.bias + places);
    layer.weights = (int8_t *)pack + head_bytes(places);
    return layer;
}

bool taper_i8_is_symmetric(const taper_tensor *weight)
{
    const taper_quantizer *z = weight->quantizer;
    if (z->scales == NULL) {
        return z->zero_point == 0;
    }
    for (int64_t c = 0; c < z->scales->sizes[0]; c++) {
        if (taper_qweight_zero_point(weight, c) != 0) {
            return false;
        }
    }
    return true;
}

void taper_i8_pack_key(const void *kind, taper_tensor *weight, taper_tensor *bias, taper_pack_request *request)
{
    const taper_quantizer *z = weight->quantizer;
    *request = (taper_pack_request){.kind = kind, .tensors = {weight, bias, z->scales}};
    memcpy(&request->numbers[0], &z->scale, sizeof request->numbers[0]);
}

void taper_i8_fill_channels(const taper_i8_layer *layer, const taper_tensor *weight, const taper_tensor *bias,
                            size_t channels, size_t (*place_of)(const void *context, size_t channel),
                            const void *context)
{
    const bool per_channel = weight->quantizer->scales != NULL;
    const float *values = bias != NULL ? taper_tensor_data(bias) : NULL;
    for (size_t p = 0; p < layer->places; p++) {
        layer->weight_scale[p] = taper_qweight_scale(weight, 0);
        layer->bias[p] = 0;
    }
    for (size_t c = 0; c < channels; c++) {
        const size_t place = place_of(context, c);
        layer->weight_scale[place] = taper_qweight_scale(weight, per_channel ? (int64_t)c : 0);
        layer->bias[place] = values != NULL ? values[(int64_t)c * bias->strides[0]] : 0.0f;
    }
}

// Rounds as taper_q_round does for 32 bits, in steps that the compiler vectorizes. A number that does not even fit into
// 64 bits gives the smallest integer.
static int32_t round_to_int32(float x)
{
    const float whole = 0x1p23f, magic = x < 0 ? -whole : whole;
    const float small = x + magic - magic; // rounds halves to the even integer
    const float y = x > -whole && x < whole ? small : x;
    return y > 9.2e18f ? INT32_MIN : y >= 0x1p31f ? INT32_MAX : y >= -0x1p31f ? (int32_t)y : INT32_MIN;
}

bool taper_i8_layer_fold(const taper_i8_layer *layer, double in_scale, int32_t in_zero_point, uint32_t shift,
                         double out_scale, int32_t *bias, float *factor)
{
    // These steps in single precision are QNNPACK's; ops/quantized/quantized_params.c explains them.
    const float inverse = out_scale == 0 ? 1.0f : 1.0f / (float)out_scale, input = (float)in_scale;
    const uint32_t zero = shift - (uint32_t)in_zero_point;
    const float most = out_scale == 0 ? FLT_MAX : 1.0f - FLT_EPSILON / 2; // largest float below 1
    unsigned bad = 0;
    for (size_t p = 0; p < layer->places; p++) {
        const float f = (float)layer->weight_scale[p] * input * inverse;
        bad |= (unsigned)!(f >= FLT_MIN) | (unsigned)!(f <= most);
        factor[p] = f;
    }
    for (size_t p = 0; p < layer->places; p++) {
        const float of_sum = 1.0f / (float)(layer->weight_scale[p] * in_scale);
        const int32_t start = out_scale == 0 ? 0 : round_to_int32(layer->bias[p] * of_sum);
        bias[p] = (int32_t)((uint32_t)start + zero * (uint32_t)layer->sums[p]);
    }
    return bad == 0;
}
