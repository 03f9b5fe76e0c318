// SPDX-License-Identifier: BSD-2-Clause
// Checks the scales and zero points of an operation's quantized operands.
#include <math.h>
#include <string.h>

#include "model.h"

typedef enum scale_rule {
    SCALE_ANY,
    SCALE_SAME,
    SCALE_256,
    SCALE_128,
    SCALE_PRODUCT,
    SCALE_LAYER,
    SCALE_JOINED
} scale_rule;

static scale_rule rule_of(int32_t code)
{
    switch (code) {
    case ANEURALNETWORKS_AVERAGE_POOL_2D:
    case ANEURALNETWORKS_MAX_POOL_2D:
    case ANEURALNETWORKS_RELU:
    case ANEURALNETWORKS_RELU1:
    case ANEURALNETWORKS_RELU6:
    case ANEURALNETWORKS_RESHAPE:
    case ANEURALNETWORKS_SQUEEZE:
    case ANEURALNETWORKS_EXPAND_DIMS:
    case ANEURALNETWORKS_TRANSPOSE:
    case ANEURALNETWORKS_SLICE:
    case ANEURALNETWORKS_STRIDED_SLICE:
    case ANEURALNETWORKS_SPLIT:
    case ANEURALNETWORKS_PAD:
    case ANEURALNETWORKS_PAD_V2:
    case ANEURALNETWORKS_MEAN:
    case ANEURALNETWORKS_REDUCE_MAX:
    case ANEURALNETWORKS_REDUCE_MIN:
    case ANEURALNETWORKS_DEPTH_TO_SPACE:
    case ANEURALNETWORKS_CHANNEL_SHUFFLE:
    case ANEURALNETWORKS_RESIZE_BILINEAR:
    case ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR:
        return SCALE_SAME;
    case ANEURALNETWORKS_LOGISTIC:
    case ANEURALNETWORKS_SOFTMAX:
        return SCALE_256;
    case ANEURALNETWORKS_TANH:
        return SCALE_128;
    case ANEURALNETWORKS_MUL:
        return SCALE_PRODUCT;
    case ANEURALNETWORKS_CONV_2D:
    case ANEURALNETWORKS_DEPTHWISE_CONV_2D:
    case ANEURALNETWORKS_GROUPED_CONV_2D:
    case ANEURALNETWORKS_TRANSPOSE_CONV_2D:
    case ANEURALNETWORKS_FULLY_CONNECTED:
        return SCALE_LAYER;
    case ANEURALNETWORKS_CONCATENATION:
        return DOUBLE_LEVEL < 29 ? SCALE_JOINED : SCALE_ANY;
    default:
        return SCALE_ANY;
    }
}

static int same(const tensor *a, const tensor *b)
{
    return a->scale == b->scale && a->zero_point == b->zero_point
               ? ANEURALNETWORKS_NO_ERROR
               : double_misuse(ANEURALNETWORKS_BAD_DATA, "a result of scale %g, zero point %d of an input of %g and %d",
                               (double)b->scale, b->zero_point, (double)a->scale, a->zero_point);
}

static int fixed(const tensor *out, float scale, int32_t zero_point)
{
    return out->scale == scale && out->zero_point == zero_point
               ? ANEURALNETWORKS_NO_ERROR
               : double_misuse(ANEURALNETWORKS_BAD_DATA,
                               "a result of scale %g, zero point %d, where the operation has %g and %d",
                               (double)out->scale, out->zero_point, (double)scale, zero_point);
}

static int check_layer(const tensor *in, const tensor *out)
{
    const tensor *weight = &in[1], *bias = &in[2];
    const bool channels = weight->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    if (channels && weight->channel_scales == NULL) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "weights per channel have no scales");
    }
    // The scale of the bias may differ from the product by rounding.
    const float product = channels ? 0.0f : in->scale * weight->scale;
    if (fabsf(bias->scale - product) > 1e-6f * fminf(bias->scale, product)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "a bias of scale %g for products of scale %g",
                             (double)bias->scale, (double)product);
    }
    if (DOUBLE_LEVEL < 29 && !(out->scale > product)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "a result of scale %g of products of scale %g; from level 29 on",
                             (double)out->scale, (double)product);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int double_check_scales(const signature *row, const tensor *in, uint32_t in_count, const tensor *out,
                        uint32_t out_count)
{
    if (in[0].type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM && in[0].type != ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED) {
        return ANEURALNETWORKS_NO_ERROR;
    }
    const bool plain = in[0].type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    int code = ANEURALNETWORKS_NO_ERROR;
    switch (rule_of(row->code)) {
    case SCALE_SAME:
        for (uint32_t i = 0; i < out_count && code == ANEURALNETWORKS_NO_ERROR; i++) {
            code = same(&in[0], &out[i]);
        }
        return code;
    case SCALE_JOINED:
        for (uint32_t i = 0; i + 1 < in_count && code == ANEURALNETWORKS_NO_ERROR; i++) {
            code = same(&in[i], &out[0]);
        }
        return code;
    case SCALE_256:
        return fixed(&out[0], 1.0f / 256.0f, plain ? 0 : -128);
    case SCALE_128:
        return fixed(&out[0], 1.0f / 128.0f, plain ? 128 : 0);
    case SCALE_PRODUCT:
        return out[0].scale > in[0].scale * in[1].scale
                   ? ANEURALNETWORKS_NO_ERROR
                   : double_misuse(ANEURALNETWORKS_BAD_DATA, "a product of scale %g of %g and %g", (double)out[0].scale,
                                   (double)in[0].scale, (double)in[1].scale);
    case SCALE_LAYER:
        return check_layer(in, &out[0]);
    default:
        return ANEURALNETWORKS_NO_ERROR;
    }
}
