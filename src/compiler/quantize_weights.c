// SPDX-License-Identifier: BSD-2-Clause
// Makes symmetric qint8 weights, and the objects of packed parameters for quantized layers. Both are made by the same
// operators as in PyTorch, so the file contains what PyTorch would store.
#include <float.h>
#include <math.h>

#include "compiler/quantization.h"
#include "ir/tensor.h"

// Returns the scale for weights up to this magnitude, as PyTorch's observers of symmetric weights compute it.
static float symmetric_scale(float magnitude)
{
    const float scale = magnitude / 127.5f;
    return scale > FLT_EPSILON ? scale : FLT_EPSILON;
}

static taper_status call(taper_compilation *compilation, const taper_op *op, taper_val *args, size_t count,
                         taper_val *result)
{
    *result = taper_val_none();
    if (op == NULL) {
        TAPER_FAIL(compilation->error, TAPER_ERROR_UNSUPPORTED, "this build cannot quantize tensors");
    }
    taper_run run = taper_run_on(compilation->module->heap, compilation->registry, compilation->error);
    return taper_call_op(&run, op, args, count, result, 1);
}

taper_status taper_prepack(taper_compilation *compilation, const taper_op *op, taper_val *args, size_t count,
                           taper_val *object)
{
    taper_run run = taper_run_on(compilation->module->heap, compilation->registry, NULL);
    *object = taper_val_none();
    const taper_status status = op != NULL ? taper_call_op(&run, op, args, count, object, 1) : TAPER_OK;
    if (status != TAPER_OK) {
        *object = taper_val_none(); // None means that the layer remains float
    }
    return status == TAPER_ERROR_RESOURCE ? taper_fail_memory(compilation->error) : TAPER_OK;
}

// ---- weights

// Finds the largest magnitude of every channel along `axis`, or of the whole weight.
static void find_magnitudes(const taper_tensor *weight, bool per_channel, size_t axis, float *magnitudes)
{
    const float *w = taper_tensor_data(weight);
    int64_t outer = 1, inner = 1;
    for (size_t d = 0; d < weight->rank; d++) {
        *(d < axis ? &outer : &inner) *= d != axis ? weight->sizes[d] : 1;
    }
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t c = 0; c < weight->sizes[axis]; c++) {
            float *most = &magnitudes[per_channel ? c : 0];
            for (int64_t i = 0; i < inner; i++, w++) {
                *most = fabsf(*w) > *most ? fabsf(*w) : *most;
            }
        }
    }
}

static taper_status quantize_channels(taper_compilation *compilation, taper_tensor *weight, size_t axis,
                                      taper_val *quantized)
{
    taper_heap *heap = compilation->module->heap;
    taper_tensor *scales, *zeros;
    TAPER_TRY(taper_tensor_zeros(heap, TAPER_F32, 1, &weight->sizes[axis], &scales, compilation->error));
    taper_status status = taper_tensor_zeros(heap, TAPER_I64, 1, &weight->sizes[axis], &zeros, compilation->error);
    if (status == TAPER_OK) {
        float *s = taper_tensor_mutable(scales);
        find_magnitudes(weight, true, axis, s);
        for (int64_t c = 0; c < weight->sizes[axis]; c++) {
            s[c] = symmetric_scale(s[c]);
        }
        taper_val args[] = {TAPER_VAL(weight), TAPER_VAL(scales), TAPER_VAL(zeros), taper_val_int((int64_t)axis),
                            taper_val_int(TAPER_QI8)};
        status = call(compilation, TAPER_OP(aten_quantize_per_channel), args, 5, quantized);
        taper_obj_release(&zeros->head);
    }
    taper_obj_release(&scales->head);
    return status;
}

taper_status taper_quantize_weight(taper_compilation *compilation, taper_tensor *weight, bool per_channel, size_t axis,
                                   taper_val *quantized)
{
    taper_tensor *flat;
    *quantized = taper_val_none();
    TAPER_TRY(taper_tensor_contiguous(compilation->module->heap, weight, &flat, compilation->error));
    taper_status status;
    if (per_channel) {
        status = quantize_channels(compilation, flat, axis, quantized);
    } else {
        float magnitude = 0;
        find_magnitudes(flat, false, axis, &magnitude);
        taper_val args[] = {TAPER_VAL(flat), taper_val_double((double)symmetric_scale(magnitude)), taper_val_int(0),
                            taper_val_int(TAPER_QI8)};
        status = call(compilation, TAPER_OP(aten_quantize_per_tensor), args, 4, quantized);
    }
    taper_obj_release(&flat->head);
    return status;
}

// ---- biases

// Adds the mean error of each output channel caused by rounding of the weights: the sum of (w' - w) times the mean
// input.
static void add_mean_errors(const taper_layer *layer, const taper_quantize_value *input, const float *rounded,
                            float *bias)
{
    const float *w = taper_tensor_data(layer->weight);
    const int64_t rows = layer->weight->sizes[0], columns = layer->weight->sizes[1];
    int64_t inner = 1;
    for (size_t d = 2; d < layer->weight->rank; d++) {
        inner *= layer->weight->sizes[d];
    }
    const int64_t rows_per_group = rows / layer->groups;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t group = r / rows_per_group;
        for (int64_t c = 0; c < columns; c++) {
            double error = 0;
            for (int64_t i = 0; i < inner; i++) {
                const int64_t at = (r * columns + c) * inner + i;
                error += (double)rounded[at] - (double)w[at];
            }
            const int64_t out = layer->transposed ? group * columns + c : r;
            const int64_t in = layer->transposed ? r : group * columns + c;
            bias[out] -= (float)(error * input->sums[in] / (double)input->elements);
        }
    }
}

// Makes a new bias that compensates for the mean errors. If the input was not observed, *bias is a reference to the
// layer's own bias.
static taper_status correct_bias(const taper_quantization *q, taper_compilation *compilation, const taper_layer *layer,
                                 uint32_t input, taper_val weight, taper_val *bias)
{
    const taper_quantize_value *v = input < q->value_count ? &q->values[input] : NULL;
    *bias = layer->bias != NULL ? taper_val_retain(TAPER_VAL(layer->bias)) : taper_val_none();
    if (v == NULL || v->sums == NULL || v->elements == 0 || !taper_tensor_is_contiguous(layer->weight)) {
        return TAPER_OK;
    }
    taper_tensor *made;
    taper_val rounded;
    taper_val_release(*bias);
    *bias = taper_val_none();
    TAPER_TRY(taper_tensor_zeros(compilation->module->heap, TAPER_F32, 1, &layer->channels, &made, compilation->error));
    *bias = TAPER_VAL(made);
    if (layer->bias != NULL) {
        TAPER_TRY(taper_tensor_copy(made, layer->bias, compilation->error));
    }
    const taper_op *op = TAPER_OP(aten_dequantize_self);
    taper_run run = taper_run_on(compilation->module->heap, compilation->registry, compilation->error);
    if (op == NULL) {
        return TAPER_OK;
    }
    rounded = taper_val_none();
    TAPER_TRY(taper_call_op(&run, op, &weight, 1, &rounded, 1));
    if (taper_tensor_is_contiguous(rounded.as.tensor)) {
        add_mean_errors(layer, v, taper_tensor_data(rounded.as.tensor), taper_tensor_mutable(made));
    }
    taper_val_release(rounded);
    return TAPER_OK;
}

// ---- packed parameters

static taper_status ints(taper_compilation *compilation, const int64_t *numbers, size_t count, taper_val *value)
{
    taper_list *list = taper_list_new(compilation->module->heap, &taper_type_int, count);
    *value = taper_val_none();
    if (list == NULL) {
        return taper_fail_memory(compilation->error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = taper_val_int(numbers[i]);
    }
    list->count = count;
    *value = TAPER_VAL(list);
    return TAPER_OK;
}

static const taper_op *prepack_row(const taper_layer *layer)
{
    switch (layer->dims) {
    case 1:
        return layer->transposed ? TAPER_OP(quantized_conv_transpose1d_prepack) : TAPER_OP(quantized_conv1d_prepack);
    case 2:
        return layer->transposed ? TAPER_OP(quantized_conv_transpose2d_prepack) : TAPER_OP(quantized_conv2d_prepack);
    default:
        return layer->transposed ? TAPER_OP(quantized_conv_transpose3d_prepack) : TAPER_OP(quantized_conv3d_prepack);
    }
}

// Packs a convolution. args[0] and args[1] are weight and bias; this function adds the other arguments.
static taper_status pack_convolution(taper_compilation *compilation, const taper_layer *layer, taper_val *args,
                                     taper_val *object)
{
    const int64_t *lists[] = {layer->stride, layer->padding, layer->transposed ? layer->output_padding : NULL,
                              layer->dilation};
    size_t count = 2;
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < 4; i++) {
        if (lists[i] != NULL) {
            status = ints(compilation, lists[i], layer->dims, &args[count++]);
        }
    }
    args[count] = taper_val_int(layer->groups);
    if (status == TAPER_OK) {
        status = taper_prepack(compilation, prepack_row(layer), args, count + 1, object);
    }
    for (size_t i = 2; i < count; i++) {
        taper_val_release(args[i]);
    }
    return status;
}

taper_status taper_pack_quantized(taper_compilation *compilation, const taper_layer *layer, taper_val weight,
                                  taper_val bias, taper_val *object)
{
    enum { MOST = 8 };
    taper_val args[MOST] = {weight, bias};
    return layer->convolution ? pack_convolution(compilation, layer, args, object)
                              : taper_prepack(compilation, TAPER_OP(quantized_linear_prepack), args, 2, object);
}

taper_status taper_pack_layer(const taper_quantization *q, taper_compilation *compilation, const taper_layer *layer,
                              uint32_t input, taper_val *object)
{
    taper_val weight, bias = taper_val_none();
    *object = taper_val_none();
    // QNNPACK does not support scales per channel for transposed convolutions.
    const bool per_channel = q->options.per_channel != 0 && !layer->transposed;
    TAPER_TRY(taper_quantize_weight(compilation, layer->weight, per_channel, 0, &weight));
    taper_status status = correct_bias(q, compilation, layer, input, weight, &bias);
    if (status == TAPER_OK) {
        status = taper_pack_quantized(compilation, layer, weight, bias, object);
    }
    taper_val_release(weight);
    taper_val_release(bias);
    return status;
}
