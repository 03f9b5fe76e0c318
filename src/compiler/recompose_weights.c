// SPDX-License-Identifier: BSD-2-Clause
// Finds layers whose weights are dequantized from int8. Makes qint8 tensors that share the memory of the weights, and
// makes the objects for quantized layers with PyTorch's own prepack operators.
#include "compiler/recompose.h"

#include <math.h>

#include "ir/tensor.h"
#include "ops/quantized/quantized.h"

static taper_tensor *constant_tensor(const taper_recomposer *r, const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    return constant != NULL && constant->constant.tag == TAPER_TENSOR &&
                   !taper_is_written(r->compilation, constant->constant)
               ? constant->constant.as.tensor
               : NULL;
}

// Returns true if the three arguments up to `index` are the range and the dtype of int8.
static bool is_of_int8(const taper_node *node, size_t index)
{
    double n[3];
    return taper_constant_numbers(node, index - 2, index, n) && n[0] >= -128 && n[1] <= 127 && n[2] == TAPER_I8;
}

static bool is_none_or(const taper_node *node, size_t index, int64_t number)
{
    const taper_val *value = index < node->input_count ? taper_node_constant_in(node, index) : NULL;
    return value != NULL && (value->tag == TAPER_NONE || (value->tag == TAPER_INT && value->as.i == number));
}

static bool is_vector(const taper_tensor *tensor, int64_t length)
{
    return tensor != NULL && tensor->rank == 1 && tensor->sizes[0] == length;
}

// Returns the int8 tensor from which the weight of a layer is dequantized, or NULL if there is no such tensor.
static taper_tensor *weight_of(const taper_recomposer *r, const taper_node *node, taper_recomposed_layer *layer)
{
    double n[2];
    if (node == NULL || taper_aliases_written(r->aliases, &node->outputs[0])) {
        return NULL;
    }
    if (taper_node_calls(node, TAPER_OP(quantized_decomposed_dequantize_per_tensor)) &&
        is_none_or(node, 6, TAPER_F32) && is_of_int8(node, 5) && taper_constant_numbers(node, 1, 2, n)) {
        layer->qparams = (taper_qparams){n[0], (int64_t)n[1]};
    } else if (taper_node_calls(node, TAPER_OP(quantized_decomposed_dequantize_per_channel)) &&
               is_none_or(node, 7, TAPER_F32) && is_of_int8(node, 6) && taper_constant_numbers(node, 3, 3, n)) {
        layer->axis = (int64_t)n[0];
        layer->scales = constant_tensor(r, taper_node_in(node, 1));
        layer->zero_points = constant_tensor(r, taper_node_in(node, 2));
    } else {
        return NULL;
    }
    taper_tensor *weight = constant_tensor(r, taper_node_in(node, 0));
    if (weight == NULL || weight->dtype != TAPER_I8 || weight->rank < 2 || layer->axis < 0 ||
        layer->axis >= weight->rank || (layer->scales != NULL) != (layer->zero_points != NULL) ||
        (layer->scales == NULL && layer->qparams.scale == 0)) {
        return NULL;
    }
    const int64_t channels = weight->sizes[layer->axis];
    const bool uniform = layer->scales == NULL;
    return uniform || (is_vector(layer->scales, channels) && is_vector(layer->zero_points, channels) &&
                       taper_dtype_is_float((taper_dtype)layer->scales->dtype) &&
                       taper_dtype_is_integral((taper_dtype)layer->zero_points->dtype))
               ? weight
               : NULL;
}

bool taper_recompose_layer(const taper_recomposer *r, taper_node *node, taper_recomposed_layer *layer)
{
    *layer = (taper_recomposed_layer){0};
    const taper_ir_value *argument = taper_node_argument(node, "weight");
    taper_tensor *weight = argument != NULL ? weight_of(r, argument->node, layer) : NULL;
    if (weight == NULL || !taper_layer_match_weight(r->compilation, node, weight, &layer->layer)) {
        return false;
    }
    for (size_t d = 0; d < weight->rank; d++) {
        if (weight->sizes[d] == 0) {
            return false;
        }
    }
    for (size_t d = 0; d < layer->layer.dims;
         // A convolution that is not transposed has no output padding, and its prepack operator does not take any.
         d++) {
        if (layer->layer.output_padding[d] < 0 || (!layer->layer.transposed && layer->layer.output_padding[d] != 0)) {
            return false;
        }
    }
    return true;
}

taper_status taper_recompose_product(taper_recomposer *r, taper_node *node, taper_node **linear)
{
    double ones[2] = {1, 1};
    taper_recomposed_layer layer = {0};
    const bool adds = taper_node_calls(node, TAPER_OP(aten_addmm));
    taper_ir_value *x = taper_node_in(node, adds), *weight = taper_transposed_of(taper_node_in(node, adds + 1u)), *bias;
    *linear = NULL;
    if (node->schema->out_count != 0 || weight == NULL || !TAPER_HAS_OP(aten_linear) ||
        (adds && !taper_constant_numbers(node, 3, 4, ones)) || ones[0] != 1 || ones[1] != 1) {
        return TAPER_OK;
    }
    const taper_tensor *w = weight_of(r, weight->node, &layer);
    if (w == NULL || w->rank != 2 || (adds && !is_vector(constant_tensor(r, taper_node_in(node, 0)), w->sizes[0]))) {
        return TAPER_OK;
    }
    if (adds) {
        bias = taper_node_in(node, 0);
    } else {
        TAPER_TRY(taper_constant_before(node, taper_val_none(), &bias, r->compilation->error));
    }
    TAPER_TRY(taper_op_before(r->compilation, node, TAPER_OP(aten_linear), linear));
    taper_node_set_input(*linear, 0, x);
    taper_node_set_input(*linear, 1, weight);
    taper_node_set_input(*linear, 2, bias);
    taper_value_replace_uses(&node->outputs[0], &(*linear)->outputs[0]);
    return TAPER_OK;
}

static double number_at(const taper_tensor *vector, int64_t at)
{
    return taper_load_double((taper_dtype)vector->dtype, taper_tensor_data(vector), at * vector->strides[0]);
}

bool taper_recompose_fits(const taper_recomposed_layer *layer, double in, double out)
{
    const taper_tensor *bias = layer->layer.bias, *scales = layer->scales;
    const int64_t count = scales != NULL ? scales->sizes[0] : 1;
    for (int64_t i = 0; i < count; i++) {
        const double scale = scales != NULL ? number_at(scales, i) : layer->qparams.scale;
        if (!(scale >= TAPER_RECOMPOSED_LEAST && scale <= TAPER_RECOMPOSED_MOST)) {
            return false;
        }
    }
    for (int64_t c = 0; out != 0 && bias != NULL && c < layer->layer.channels; c++) {
        const bool own = scales != NULL && layer->axis == 0 && !layer->layer.transposed;
        const double scale = own ? number_at(scales, c) : scales != NULL ? 0 : layer->qparams.scale;
        if (!(fabs(number_at(bias, c)) <= in * scale * 0x1p+30)) {
            return false;
        }
    }
    return true;
}

static taper_status copy_as(taper_recomposer *r, taper_dtype dtype, const taper_tensor *of, taper_tensor **copy)
{
    TAPER_TRY(taper_tensor_new(r->compilation->module->heap, dtype, 1, of->sizes, NULL, copy, r->compilation->error));
    return taper_tensor_copy(*copy, of, r->compilation->error);
}

// Makes a qint8 view of the same bytes, so that the layer sees changes when the host writes to the weights.
static taper_status quantized_view(taper_recomposer *r, const taper_recomposed_layer *layer, taper_tensor **view)
{
    const taper_tensor *w = layer->layer.weight;
    taper_error *error = r->compilation->error;
    taper_quantizer quantizer = {
        .scheme = TAPER_PER_TENSOR_AFFINE, .scale = layer->qparams.scale, .zero_point = layer->qparams.zero_point};
    taper_status status = TAPER_OK;
    *view = NULL;
    if (layer->scales != NULL) {
        quantizer = (taper_quantizer){.scheme = TAPER_PER_CHANNEL_AFFINE, .axis = layer->axis};
        status = copy_as(r, TAPER_F64, layer->scales, &quantizer.scales);
        if (status == TAPER_OK) {
            status = copy_as(r, TAPER_I64, layer->zero_points, &quantizer.zero_points);
        }
    }
    if (status == TAPER_OK) {
        status = taper_tensor_view(r->compilation->module->heap, w->storage, TAPER_QI8, w->offset, w->rank, w->sizes,
                                   w->strides, view, error);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_set_quantizer(*view, &quantizer, error);
    }
    taper_q_release(&quantizer);
    return status;
}

taper_status taper_recompose_pack(taper_recomposer *r, const taper_recomposed_layer *layer, taper_val *object)
{
    taper_tensor *weight;
    *object = taper_val_none();
    taper_status status = quantized_view(r, layer, &weight);
    if (status == TAPER_OK) {
        const taper_val bias = layer->layer.bias != NULL ? TAPER_VAL(layer->layer.bias) : taper_val_none();
        taper_run run = taper_run_on(r->compilation->module->heap, r->compilation->registry, NULL);
        status = taper_q_check_tensor(&run, "weight", weight) == TAPER_OK
                     ? taper_pack_quantized(r->compilation, &layer->layer, TAPER_VAL(weight), bias, object)
                     : TAPER_OK; // the prepack operator does not accept the scales, so the layer is not replaced
    }
    if (weight != NULL) {
        taper_obj_release(&weight->head);
    }
    return status;
}
