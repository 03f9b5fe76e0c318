// SPDX-License-Identifier: BSD-2-Clause
// Lowers convolutions and linear layers.
#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"

// Makes a constant weight with its dimensions in PyTorch's order. The weight is a contiguous copy, which kernels of
// depthwise layers require. The weight is packed only once.
static taper_status ordered_weight(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order, taper_tensor **weight)
{
    taper_tensor *view;
    TAPER_TRY(taper_nnapi_tensor(l, at, order, &view));
    const taper_status status = taper_tensor_contiguous(l->emit.heap, view, weight, l->emit.error);
    taper_val_release(TAPER_VAL(view));
    return status;
}

// ---- 8-bit layers

// Converts NNAPI's weights, 0 to 255, to PyTorch's range -128 to 127.
static taper_status signed_weight(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order, taper_tensor **made)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    taper_tensor *bytes;
    TAPER_TRY(ordered_weight(l, at, order, &bytes));
    taper_status status =
        taper_tensor_new(l->emit.heap, TAPER_QI8, bytes->rank, bytes->sizes, NULL, made, l->emit.error);
    if (status == TAPER_OK) {
        const taper_quantizer q = {.scheme = TAPER_PER_TENSOR_AFFINE,
                                   .scale = (double)operand->scale,
                                   .zero_point = operand->zero_point - 128};
        const uint8_t *from = taper_tensor_data(bytes);
        int8_t *to = taper_tensor_mutable(*made);
        for (size_t i = 0; i < operand->bytes; i++) {
            to[i] = (int8_t)(from[i] - 128);
        }
        status = taper_tensor_set_quantizer(*made, &q, l->emit.error);
        if (status != TAPER_OK) {
            taper_val_release(TAPER_VAL(*made));
        }
    }
    taper_val_release(TAPER_VAL(bytes));
    return status;
}

// Converts the bias of an 8-bit layer to floats. Its integers have a scale that is the product of the input's scale and
// the weight's scale.
static taper_status float_bias(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_tensor **made)
{
    taper_tensor *whole;
    if (taper_nnapi_operand_of(l, op->in[2])->type != TAPER_NNAPI_TENSOR_INT32) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u, a bias, has type %u, not 32-bit integers", op->in[2],
                   taper_nnapi_operand_of(l, op->in[2])->type);
    }
    TAPER_TRY(taper_nnapi_tensor(l, op->in[2], NULL, &whole));
    const taper_status status =
        taper_tensor_new(l->emit.heap, TAPER_F32, whole->rank, whole->sizes, NULL, made, l->emit.error);
    if (status == TAPER_OK) {
        const double unit =
            (double)taper_nnapi_operand_of(l, op->in[0])->scale * (double)taper_nnapi_operand_of(l, op->in[1])->scale;
        const int32_t *from = taper_tensor_data(whole);
        float *to = taper_tensor_mutable(*made);
        const int64_t count = taper_tensor_numel(whole);
        for (int64_t i = 0; i < count; i++) {
            to[i] = (float)(unit * from[i]);
        }
    }
    taper_val_release(TAPER_VAL(whole));
    return status;
}

static taper_status number_list(taper_nnapi_lowering *l, const int64_t *numbers, size_t count, taper_val *made)
{
    taper_list *list = taper_list_new(l->emit.heap, &taper_type_int, count);
    if (list == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = taper_val_int(numbers[i]);
    }
    list->count = count;
    *made = TAPER_VAL(list);
    return TAPER_OK;
}

// The parameters of a convolution in PyTorch. Pairs are for height and width.
typedef struct geometry {
    // `more` is the output_padding of a transposed convolution.
    int64_t stride[2], padding[2], more[2], dilation[2], groups;
    bool transposed;
} geometry;

// Makes packed weights with PyTorch's own prepack operator, which checks that weight and bias fit together. g is NULL
// for a linear layer.
static taper_status pack(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const uint8_t *order,
                         const geometry *g, taper_ir_value **packed)
{
    const taper_op *row = g == NULL       ? TAPER_OP(quantized_linear_prepack)
                          : g->transposed ? TAPER_OP(quantized_conv_transpose2d_prepack)
                                          : TAPER_OP(quantized_conv2d_prepack);
    taper_val args[7], object = taper_val_none();
    size_t count = 0;
    taper_tensor *tensor;
    if (row == NULL) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "an operator that packs weights is left out");
    }
    taper_status status = signed_weight(l, op->in[1], order, &tensor);
    if (status == TAPER_OK) {
        args[count++] = TAPER_VAL(tensor);
        status = float_bias(l, op, &tensor);
    }
    if (status == TAPER_OK) {
        args[count++] = TAPER_VAL(tensor);
    }
    const int64_t *lists[4] = {NULL};
    size_t list_count = 0;
    if (g != NULL) {
        lists[list_count++] = g->stride;
        lists[list_count++] = g->padding;
        if (g->transposed) {
            lists[list_count++] = g->more;
        }
        lists[list_count++] = g->dilation;
    }
    for (size_t i = 0; status == TAPER_OK && i < list_count; i++) {
        status = number_list(l, lists[i], 2, &args[count]);
        count += status == TAPER_OK;
    }
    if (status == TAPER_OK) {
        if (g != NULL) {
            args[count++] = taper_val_int(g->groups);
        }
        taper_run run = taper_run_on(l->emit.heap, l->emit.registry, l->emit.error);
        status = taper_call_op(&run, row, args, count, &object, 1);
    }
    for (size_t i = 0; i < count; i++) {
        taper_val_release(args[i]);
    }
    return status == TAPER_OK ? taper_nnapi_constant(l, object, packed) : status;
}

// Adds a layer on packed weights. relu: true if the operator includes a relu.
static taper_status packed_layer(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const taper_op *row,
                                 taper_ir_value *x, taper_ir_value *packed, int64_t fuse, bool relu, taper_ir_value **y)
{
    taper_ir_value *scale, *zero;
    TAPER_TRY(taper_nnapi_quantizer(l, op->out[0], &scale, &zero));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, row, y, x, packed, scale, zero));
    return taper_nnapi_fuse(l, relu ? 0 : fuse, *y, y);
}

// ---- layers

// Gets the weight and bias of a float layer, which are constant or computed. The dimensions of the weight are permuted
// to `order`.
static taper_status float_weights(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const uint8_t *order,
                                  taper_ir_value **weight, taper_ir_value **bias)
{
    TAPER_TRY(taper_nnapi_plain(l, op->in[2], bias));
    if (taper_nnapi_is_constant(l, op->in[1])) {
        taper_tensor *tensor;
        // Dense weights can be packed from any order, so they remain in the memory of the file. Other weights are
        // copied.
        TAPER_TRY(op->code == TAPER_NNAPI_CONV_2D || order == NULL ? taper_nnapi_tensor(l, op->in[1], order, &tensor)
                                                                   : ordered_weight(l, op->in[1], order, &tensor));
        return taper_nnapi_constant(l, TAPER_VAL(tensor), weight);
    }
    taper_ir_value *plain, *dims;
    TAPER_TRY(taper_nnapi_plain(l, op->in[1], &plain));
    if (order == NULL) {
        *weight = plain;
        return TAPER_OK;
    }
    const int64_t numbers[4] = {order[0], order[1], order[2], order[3]};
    TAPER_TRY(taper_nnapi_int_list(l, numbers, 4, &dims));
    return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_permute), weight, plain, dims);
}

// Determines the number of groups and checks that it fits the sizes of the weights.
static taper_status find_groups(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const taper_nnapi_window *w,
                                int64_t *groups)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]),
                              *weight = taper_nnapi_operand_of(l, op->in[1]);
    const int64_t channels = in->sizes[w->nchw ? 1 : 3];
    bool fits = true;
    *groups = w->number;
    if (op->code == TAPER_NNAPI_DEPTHWISE_CONV_2D) {
        fits = w->number >= 1 && weight->sizes[0] == 1 && weight->sizes[3] % w->number == 0;
        *groups = fits ? weight->sizes[3] / w->number : 1;
        fits = fits && (channels == 0 || channels == *groups);
    } else if (op->code == TAPER_NNAPI_GROUPED_CONV_2D) {
        fits = w->number >= 1 && weight->sizes[0] % w->number == 0 &&
               (channels == 0 || (channels % w->number == 0 && channels / w->number == weight->sizes[3]));
    }
    if (!fits) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE,
                   "weights %s for %lld channels, %lld groups or results of each channel, do not fit",
                   taper_shape_print(weight->rank, weight->sizes).text, (long long)channels, (long long)w->number);
    }
    return TAPER_OK;
}

// Crops the result of a transposed convolution on the side with the larger padding, because the convolution was
// computed with the smaller padding on both sides.
static taper_status cut_result(taper_nnapi_lowering *l, const taper_nnapi_window *w, const geometry *g,
                               taper_ir_value **y)
{
    for (size_t i = 0; i < 2; i++) {
        const int64_t start = w->before[i] - g->padding[i], end = g->padding[i] - w->after[i];
        if (start > 0 || end < 0) {
            TAPER_TRY(taper_nnapi_cut(l, *y, 2 + i, start, end < 0 ? end : INT64_MAX, 1, y));
        }
    }
    return TAPER_OK;
}

// Adds the layer and its activation.
static taper_status convolve(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const uint8_t *order,
                             const geometry *g, int64_t fuse, taper_ir_value *x, taper_ir_value **y)
{
    taper_ir_value *w, *b, *packed, *stride, *padding, *more, *dilation, *groups;
    if (taper_nnapi_is_quantized(l, op->in[0])) {
        const bool relu = fuse == 1 && !g->transposed;
        TAPER_TRY(pack(l, op, order, g, &packed));
        return packed_layer(l, op,
                            g->transposed ? TAPER_OP(quantized_conv_transpose2d)
                            : relu        ? TAPER_OP(quantized_conv2d_relu_new)
                                          : TAPER_OP(quantized_conv2d_new),
                            x, packed, fuse, relu, y);
    }
    TAPER_TRY(float_weights(l, op, order, &w, &b));
    TAPER_TRY(taper_nnapi_int_list(l, g->stride, 2, &stride));
    TAPER_TRY(taper_nnapi_int_list(l, g->padding, 2, &padding));
    TAPER_TRY(taper_nnapi_int_list(l, g->dilation, 2, &dilation));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(g->groups), &groups));
    if (g->transposed) {
        TAPER_TRY(taper_nnapi_int_list(l, g->more, 2, &more));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_conv_transpose2d_input), y, x, w, b, stride, padding, more, groups,
                                   dilation));
    } else {
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_conv2d), y, x, w, b, stride, padding, dilation, groups));
    }
    return taper_nnapi_fuse(l, fuse, *y, y);
}

taper_status taper_nnapi_lower_conv(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    // Orders of the weight's dimensions. A dense weight changes from [out, H, W, in] to [out, in, H, W], a depthwise
    // weight from [1, H, W, C] to [C, 1, H, W], a transposed weight from [out, H, W, in] to [in, out, H, W].
    static const uint8_t plain[4] = {0, 3, 1, 2}, turned[4] = {3, 0, 1, 2};
    const bool dense = op->code == TAPER_NNAPI_CONV_2D || op->code == TAPER_NNAPI_GROUPED_CONV_2D;
    const taper_nnapi_operand *weight = taper_nnapi_operand_of(l, op->in[1]);
    const bool quantized = taper_nnapi_is_quantized(l, op->in[0]);
    if (weight->rank != 4 || taper_nnapi_operand_of(l, op->in[0])->rank != 4 ||
        quantized != taper_nnapi_is_quantized(l, op->in[1]) || quantized != taper_nnapi_is_quantized(l, op->out[0])) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE,
                   "operand %u, of type %u and %u dimensions, has the wrong sizes for a weight of this input",
                   op->in[1], weight->type, weight->rank);
    }
    taper_nnapi_window w;
    TAPER_TRY(taper_nnapi_window_of(l, op, weight->sizes + 1, &w));
    geometry g = {.transposed = op->code == TAPER_NNAPI_TRANSPOSE_CONV_2D};
    TAPER_TRY(find_groups(l, op, &w, &g.groups));
    memcpy(g.stride, w.stride, sizeof g.stride);
    memcpy(g.dilation, w.dilation, sizeof g.dilation);
    taper_ir_value *x, *y;
    TAPER_TRY(taper_nnapi_image(l, op->in[0], w.nchw, &x));
    const bool even = w.before[0] == w.after[0] && w.before[1] == w.after[1];
    if (even || g.transposed) {
        for (size_t i = 0; i < 2; i++) {
            g.more[i] = w.after[i] < 0 ? -w.after[i] : 0;
            w.after[i] += g.more[i];
            g.padding[i] = w.before[i] < w.after[i] ? w.before[i] : w.after[i];
        }
    } else {
        TAPER_TRY(taper_nnapi_pad_image(l, &w, 0.0, x, &x));
    }
    TAPER_TRY(convolve(l, op, dense ? plain : turned, &g, w.fuse, x, &y));
    if (g.transposed) {
        TAPER_TRY(cut_result(l, &w, &g, &y));
    }
    return taper_nnapi_give(l, op->out[0], y, !quantized, !w.nchw);
}

// Lowers a linear layer. An input of any rank is reshaped to a matrix with one column for each column of the weight.
taper_status taper_nnapi_lower_linear(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *weight = taper_nnapi_operand_of(l, op->in[1]);
    const bool quantized = taper_nnapi_is_quantized(l, op->in[0]);
    taper_ir_value *x, *y, *w, *b, *rows;
    int64_t fuse;
    TAPER_TRY(taper_nnapi_int_of(l, op->in[3], &fuse));
    if (weight->rank != 2 || quantized != taper_nnapi_is_quantized(l, op->in[1]) ||
        quantized != taper_nnapi_is_quantized(l, op->out[0])) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE,
                   "operand %u, of type %u and %u dimensions, has the wrong sizes for a weight of this input",
                   op->in[1], weight->type, weight->rank);
    }
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    if (taper_nnapi_operand_of(l, op->in[0])->rank != 2) {
        const int64_t sizes[2] = {-1, weight->sizes[1]};
        TAPER_TRY(taper_nnapi_int_list(l, sizes, 2, &rows));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_reshape), &x, x, rows));
    }
    if (quantized) {
        TAPER_TRY(pack(l, op, NULL, NULL, &w));
        TAPER_TRY(packed_layer(l, op, fuse == 1 ? TAPER_OP(quantized_linear_relu) : TAPER_OP(quantized_linear), x, w,
                               fuse, fuse == 1, &y));
        return taper_nnapi_give(l, op->out[0], y, false, false);
    }
    TAPER_TRY(float_weights(l, op, NULL, &w, &b));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_linear), &y, x, w, b));
    TAPER_TRY(taper_nnapi_fuse(l, fuse, y, &y));
    return taper_nnapi_give(l, op->out[0], y, true, false);
}
