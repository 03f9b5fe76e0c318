// SPDX-License-Identifier: BSD-2-Clause
// Rules for quantized convolutions and linear layers.
#include <math.h>
#include <string.h>

#include "backends/nnapi/translate_layers.h"
#include "ir/tensor.h"
#include "ops/quantized/quantized_params.h"

// Makes a contiguous copy of the weight's integers with the dimensions in this order.
static taper_status integer_weight(taper_translator *t, const taper_tensor *weight, const uint8_t *order,
                                   taper_tensor **result)
{
    taper_tensor from = taper_tensor_local(weight), *made;
    from.quantizer = NULL;
    from.dtype = TAPER_I8;
    for (size_t d = 0; order != NULL && d < weight->rank; d++) {
        from.sizes[d] = weight->sizes[order[d]];
        from.strides[d] = weight->strides[order[d]];
    }
    from.hidden_nhwc = false;
    TAPER_TRY(taper_tensor_new(t->options->heap, TAPER_I8, weight->rank, from.sizes, NULL, &made, t->error));
    const taper_status status = taper_tensor_copy(made, &from, t->error);
    if (status != TAPER_OK) {
        taper_obj_release(&made->head);
    }
    *result = made;
    return status;
}

// Converts PyTorch's weights, from -128 to 127, to NNAPI's range from 0 to 255.
static taper_status unsigned_weight(taper_translator *t, const taper_tensor *weight, const uint8_t *order,
                                    uint32_t *operand)
{
    taper_tensor *made;
    *operand = TAPER_NO_OPERAND;
    if (t->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(integer_weight(t, weight, order, &made));
    uint8_t *bytes = taper_tensor_mutable(made);
    const int64_t count = taper_tensor_numel(made);
    for (int64_t i = 0; i < count; i++) {
        bytes[i] ^= 0x80;
    }
    made->dtype = TAPER_QU8;
    const taper_quantizer q = {.scheme = TAPER_PER_TENSOR_AFFINE,
                               .scale = taper_qweight_scale(weight, 0),
                               .zero_point = taper_qweight_zero_point(weight, 0) + 128};
    if (taper_tensor_set_quantizer(made, &q, t->error) != TAPER_OK) {
        taper_obj_release(&made->head);
        return taper_fail_memory(t->error);
    }
    return taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, q.scale, q.zero_point, operand);
}

// Makes the bias as integers in units of input scale x weight scale, rounded as in PyTorch. With a scale for each
// channel, the operand has no scale.
static taper_status integer_bias(taper_translator *t, const taper_tensor *bias, int64_t count, double in_scale,
                                 const taper_tensor *weight, bool many, uint32_t *operand)
{
    taper_tensor *made;
    *operand = TAPER_NO_OPERAND;
    TAPER_REFUSE(t, bias == NULL && t->options->pytorch, "PyTorch's converter has no layer without bias");
    if (t->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_zeros(t->options->heap, TAPER_I32, 1, &count, &made, t->error));
    int32_t *to = taper_tensor_mutable(made);
    const float *from = bias != NULL ? taper_tensor_data(bias) : NULL;
    for (int64_t i = 0; from != NULL && i < count; i++) {
        const float inverse = 1.0f / (float)(in_scale * taper_qweight_scale(weight, many ? i : 0));
        const float wanted = nearbyintf(from[i * bias->strides[0]] * inverse);
        to[i] = wanted >= 2147483648.0f   ? INT32_MAX
                : wanted > -2147483648.0f ? (int32_t)wanted
                                          : INT32_MIN; // also the result for NaN
    }
    const double unit = many ? 0 : in_scale * taper_qweight_scale(weight, 0);
    return taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_INT32, unit, 0, operand);
}

// Returns true if NNAPI supports these weights with a scale for each channel. The format of files cannot store such
// scales.
static bool has_channel_scales(const taper_translator *t, const taper_tensor *weight, int64_t channels)
{
    bool fits = t->options->level >= 29 && !t->options->portable && !t->options->pytorch;
    for (int64_t i = 0; fits && i < channels; i++) {
        const float scale = (float)taper_qweight_scale(weight, i);
        fits = scale > 0 && scale < HUGE_VALF && taper_qweight_zero_point(weight, i) == 0;
    }
    return fits;
}

static taper_status channel_weight(taper_translator *t, const taper_tensor *weight, const uint8_t *order,
                                   uint32_t channel_dim, int64_t channels, uint32_t *operand)
{
    taper_tensor *made;
    *operand = TAPER_NO_OPERAND;
    if (t->asking) {
        return TAPER_OK;
    }
    float *scales = taper_arena_array(&t->network->arena, (size_t)channels, sizeof *scales);
    if (scales == NULL) {
        return taper_fail_memory(t->error);
    }
    for (int64_t i = 0; i < channels; i++) {
        scales[i] = (float)taper_qweight_scale(weight, i);
    }
    TAPER_TRY(integer_weight(t, weight, order, &made));
    TAPER_TRY(taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0, operand));
    t->network->operands[*operand].scales = scales;
    t->network->operands[*operand].channel_dim = channel_dim;
    return TAPER_OK;
}

// Makes the weight as floats, for layers whose scales NNAPI does not support.
static taper_status float_weight(taper_translator *t, const taper_tensor *weight, size_t channel_dim,
                                 const uint8_t *order, uint32_t *operand)
{
    taper_tensor from = taper_tensor_local(weight), *made;
    *operand = TAPER_NO_OPERAND;
    if (t->asking) {
        return TAPER_OK;
    }
    from.quantizer = NULL;
    from.dtype = TAPER_I8;
    TAPER_TRY(taper_tensor_new(t->options->heap, TAPER_F32, weight->rank, weight->sizes, NULL, &made, t->error));
    taper_status status = taper_tensor_copy(made, &from, t->error);
    if (status == TAPER_OK) {
        float *x = taper_tensor_mutable(made);
        int64_t inner = 1;
        for (size_t d = channel_dim + 1; d < weight->rank; d++) {
            inner *= weight->sizes[d];
        }
        const int64_t count = taper_tensor_numel(made);
        for (int64_t i = 0; i < count; i++) {
            const int64_t channel = i / inner % weight->sizes[channel_dim];
            x[i] =
                (x[i] - (float)taper_qweight_zero_point(weight, channel)) * (float)taper_qweight_scale(weight, channel);
        }
        status = taper_translate_weight(t, made, order, operand);
    }
    taper_obj_release(&made->head);
    return status;
}

static bool has_many_scales(const taper_tensor *weight)
{
    return weight->quantizer != NULL && weight->quantizer->scheme != TAPER_PER_TENSOR_AFFINE &&
           weight->quantizer->scheme != TAPER_PER_TENSOR_SYMMETRIC;
}

// Finds scale and zero point of the input.
static taper_status input_quantizer(taper_translator *t, const taper_ir_value *x, taper_result_quantizer *q)
{
    *q = (taper_result_quantizer){1, 0};
    if (!t->asking) {
        q->scale = t->values[x->id].scale;
        q->zero_point = t->values[x->id].zero_point;
        TAPER_REFUSE(t, !t->values[x->id].quantized, "an input that is not quantized");
    }
    return TAPER_OK;
}

static taper_status output_quantizer(taper_translator *t, const taper_node *node, taper_result_quantizer *q)
{
    const char *scale = taper_read_argument(node, "output_scale") != NULL ? "output_scale" : "Y_scale_i",
               *zero = taper_read_argument(node, "output_zero_point") != NULL ? "output_zero_point" : "Y_zero_point_i";
    TAPER_TRY(taper_read_number(&t->reader, node, scale, 0, &q->scale));
    return taper_read_int(&t->reader, node, zero, 0, &q->zero_point);
}

// Returns true if the layer can be computed in integers. Before level 29 and in files, NNAPI requires that the product
// of the scales is less than the scale of the result.
static bool fits_integers(const taper_translator *t, double unit, double scale)
{
    return t->options->level >= 29 && !t->options->pytorch ? unit > 0 : unit > 0 && unit < scale;
}

taper_status taper_translate_quantized_conv(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    taper_result_quantizer q, in_q;
    taper_object *object;
    taper_qconv_params params;
    taper_conv_layer l;
    uint32_t in[16], out;
    size_t count;
    TAPER_TRY(taper_translate_packed(t, node, &object));
    taper_run run = taper_run_on(t->options->heap, NULL, NULL);
    TAPER_REFUSE(t, taper_qconv_open(&run, object, 2, &params) != TAPER_OK, "packed weights that cannot be read");
    const taper_conv_params *c = &params.conv;
    const taper_conv_geometry g = {
        .stride = {c->stride[0], c->stride[1]},
        .padding = {c->padding[0], c->padding[1]},
        .padding_end = {c->padding[0] - c->output_padding[0], c->padding[1] - c->output_padding[1]},
        .dilation = {c->dilation[0], c->dilation[1]},
        .groups = c->groups,
        .transposed = c->transposed};
    const int kind = taper_conv_kind(&g, params.in);
    const bool many = has_many_scales(params.weight);
    TAPER_TRY(taper_translate_check_geometry(t, &g, kind));
    TAPER_TRY(taper_translate_check_inputs(t, x, 3, params.in));
    TAPER_REFUSE(t, t->options->portable && (c->output_padding[0] != 0 || c->output_padding[1] != 0),
                 "an output padding");
    TAPER_TRY(output_quantizer(t, node, &q));
    TAPER_REFUSE(t, many && t->options->pytorch, "PyTorch's converter has no weights with a scale for each channel");
    TAPER_TRY(taper_translate_layer_input(t, x, &l.input, &l.nchw));
    TAPER_TRY(input_quantizer(t, x, &in_q));
    t->fuse = t->code;
    const int64_t multiplier = params.in != 0 ? params.out / params.in : 1;
    const bool channels = many && has_channel_scales(t, params.weight, params.out);
    if (many && !channels) {
        TAPER_TRY(taper_translate_floats(t, l.input, &l.input));
        if (params.bias != NULL) {
            TAPER_TRY(taper_translate_weight(t, params.bias, NULL, &l.bias));
        } else {
            float *zeros;
            TAPER_TRY(taper_translate_new_floats(t, 1, &params.out, &zeros, &l.bias));
        }
        TAPER_TRY(float_weight(t, params.weight, c->transposed ? 1 : 0, taper_conv_weight_order(&g, kind), &l.weight));
        TAPER_TRY(taper_translate_add_conv(t, &g, kind, multiplier, &l, in, &count));
        TAPER_TRY(taper_translate_float_result(t, t->result, &q, !l.nchw, &out));
        TAPER_TRY(taper_translate_operation(t, taper_conv_code(&g, kind), in, count, out));
        return taper_translate_give(t, t->result, out, &q, !l.nchw);
    }
    TAPER_REFUSE(t, !t->asking && !fits_integers(t, in_q.scale * taper_qweight_scale(params.weight, 0), q.scale),
                 "a product of scales above the result's");
    TAPER_TRY(integer_bias(t, params.bias, params.out, in_q.scale, params.weight, channels, &l.bias));
    TAPER_TRY(channels ? channel_weight(t, params.weight, taper_conv_weight_order(&g, kind),
                                        kind == TAPER_CONV_DEPTHWISE ? 3 : 0, params.out, &l.weight)
                       : unsigned_weight(t, params.weight, taper_conv_weight_order(&g, kind), &l.weight));
    TAPER_TRY(taper_translate_add_conv(t, &g, kind, multiplier, &l, in, &count));
    TAPER_TRY(taper_translate_result(t, t->result, &q, !l.nchw, &out));
    return taper_translate_operation(t, taper_conv_code(&g, kind), in, count, out);
}

taper_status taper_translate_quantized_linear(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    taper_result_quantizer q, in_q;
    taper_object *object;
    taper_qlinear_params params;
    uint32_t weight, bias, input;
    TAPER_TRY(taper_translate_packed(t, node, &object));
    taper_run run = taper_run_on(t->options->heap, NULL, NULL);
    TAPER_REFUSE(t, taper_qlinear_open(&run, object, &params) != TAPER_OK || params.half,
                 "packed weights that cannot be read");
    TAPER_TRY(output_quantizer(t, node, &q));
    TAPER_REFUSE(t, t->options->pytorch && (t->code != ANEURALNETWORKS_FUSED_NONE || has_many_scales(params.weight)),
                 "PyTorch's converter has no such linear layer");
    TAPER_TRY(taper_translate_check_inputs(t, x, 1, params.in));
    TAPER_TRY(taper_translate_plain(t, x, &input));
    TAPER_TRY(input_quantizer(t, x, &in_q));
    t->fuse = t->code;
    if (has_many_scales(params.weight)) {
        const taper_shape shape = taper_translate_shape(t, x);
        uint32_t fuse, out;
        TAPER_REFUSE(t, shape.rank >= 0 && shape.rank != 2, "a scale for each channel, and more than two dimensions");
        TAPER_TRY(taper_translate_floats(t, input, &input));
        if (params.bias != NULL) {
            TAPER_TRY(taper_translate_weight(t, params.bias, NULL, &bias));
        } else {
            float *zeros;
            TAPER_TRY(taper_translate_new_floats(t, 1, &params.out, &zeros, &bias));
        }
        TAPER_TRY(float_weight(t, params.weight, 0, NULL, &weight));
        TAPER_TRY(taper_translate_float_result(t, t->result, &q, false, &out));
        TAPER_TRY(taper_translate_int32(t, t->fuse, &fuse));
        TAPER_TRY(TAPER_OPERATION(t, FULLY_CONNECTED, out, input, weight, bias, fuse));
        return taper_translate_give(t, t->result, out, &q, false);
    }
    TAPER_REFUSE(t, !t->asking && !fits_integers(t, in_q.scale * taper_qweight_scale(params.weight, 0), q.scale),
                 "a product of scales above the result's");
    TAPER_TRY(integer_bias(t, params.bias, params.out, in_q.scale, params.weight, false, &bias));
    TAPER_TRY(unsigned_weight(t, params.weight, NULL, &weight));
    return taper_translate_add_linear(t, x, weight, bias, params.out, &q);
}
