// SPDX-License-Identifier: BSD-2-Clause
// Convolutions, linear layers, pooling, resizing.
#include <stdio.h>
#include <stdlib.h>

#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"
#include "ops/call/call.h"

// A constant weight with its dimensions in PyTorch's order, and its elements too: kernels for depthwise layers want
// them so, and the copy is what is packed once.
static taper_status ordered_weight(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order, taper_tensor **weight)
{
    taper_tensor *view;
    TAPER_TRY(taper_nnapi_tensor(l, at, order, &view));
    const taper_status status = taper_tensor_contiguous(l->heap, view, weight, l->error);
    taper_val_release(TAPER_VAL(view));
    return status;
}

// ---- 8-bit layers

// NNAPI's weights, 0 to 255, as PyTorch's, -128 to 127.
static taper_status signed_weight(taper_nnapi_lowering *l, uint32_t at, const uint8_t *order, taper_tensor **made)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    taper_tensor *bytes;
    TAPER_TRY(ordered_weight(l, at, order, &bytes));
    taper_status status = taper_tensor_new(l->heap, TAPER_QI8, bytes->rank, bytes->sizes, NULL, made, l->error);
    if (status == TAPER_OK) {
        const taper_quantizer q = {.scheme = TAPER_PER_TENSOR_AFFINE,
                                   .scale = (double)operand->scale,
                                   .zero_point = operand->zero_point - 128};
        const uint8_t *from = taper_tensor_data(bytes);
        int8_t *to = taper_tensor_mutable(*made);
        for (size_t i = 0; i < operand->bytes; i++) {
            to[i] = (int8_t)(from[i] - 128);
        }
        status = taper_tensor_set_quantizer(*made, &q, l->error);
        if (status != TAPER_OK) {
            taper_val_release(TAPER_VAL(*made));
        }
    }
    taper_val_release(TAPER_VAL(bytes));
    return status;
}

// The bias of an 8-bit layer, integers in units of input scale x weight scale, as floats.
static taper_status float_bias(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_tensor **made)
{
    taper_tensor *whole;
    if (taper_nnapi_operand_of(l, op->in[2])->type != TAPER_NNAPI_TENSOR_INT32) {
        TAPER_FAIL(l->error, TAPER_ERROR_FILE, "operand %u, a bias, has type %u, not 32-bit integers", op->in[2],
                   taper_nnapi_operand_of(l, op->in[2])->type);
    }
    TAPER_TRY(taper_nnapi_tensor(l, op->in[2], NULL, &whole));
    const taper_status status = taper_tensor_new(l->heap, TAPER_F32, whole->rank, whole->sizes, NULL, made, l->error);
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
    taper_list *list = taper_list_new(l->heap, &taper_type_int, count);
    if (list == NULL) {
        return taper_fail_memory(l->error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = taper_val_int(numbers[i]);
    }
    list->count = count;
    *made = TAPER_VAL(list);
    return TAPER_OK;
}

typedef struct geometry {
    int64_t stride[2], padding[2], groups;
    bool transposed;
} geometry;

// Packed weights: what PyTorch's own prepack operator makes of them, which checks that they fit together. g NULL: of a
// linear layer.
static taper_status pack(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const uint8_t *order,
                         const geometry *g, taper_ir_value **packed)
{
    const taper_op *row = g == NULL       ? TAPER_OP(quantized_linear_prepack)
                          : g->transposed ? TAPER_OP(quantized_conv_transpose2d_prepack)
                                          : TAPER_OP(quantized_conv2d_prepack);
    static const int64_t ones[2] = {1, 1}, zeros[2] = {0, 0};
    taper_val args[7], object = taper_val_none();
    size_t count = 0;
    taper_tensor *tensor;
    if (row == NULL) {
        TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "an operator that packs weights is left out");
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
            lists[list_count++] = zeros;
        }
        lists[list_count++] = ones;
    }
    for (size_t i = 0; status == TAPER_OK && i < list_count; i++) {
        status = number_list(l, lists[i], 2, &args[count]);
        count += status == TAPER_OK;
    }
    if (status == TAPER_OK) {
        if (g != NULL) {
            args[count++] = taper_val_int(g->groups);
        }
        taper_run run = taper_run_on(l->heap, l->registry, l->error);
        status = taper_call_op(&run, row, args, count, &object, 1);
    }
    for (size_t i = 0; i < count; i++) {
        taper_val_release(args[i]);
    }
    return status == TAPER_OK ? taper_nnapi_constant(l, object, packed) : status;
}

// A layer on packed weights; relu is part of it, other activations follow.
static taper_status packed_layer(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const taper_op *row,
                                 taper_ir_value *x, taper_ir_value *packed, int64_t fuse, bool is_image)
{
    taper_ir_value *scale, *zero, *y;
    TAPER_TRY(taper_nnapi_quantizer(l, op->out[0], &scale, &zero));
    TAPER_TRY(TAPER_NNAPI_CALL(l, row, &y, x, packed, scale, zero));
    TAPER_TRY(taper_nnapi_fuse(l, fuse == 1 ? 0 : fuse, y, &y));
    return taper_nnapi_give(l, op->out[0], y, false, is_image);
}

// ---- layers

// Weight and bias of a layer of floats, constants or not; the weight's dimensions in this order.
static taper_status float_weights(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const uint8_t *order,
                                  taper_ir_value **weight, taper_ir_value **bias)
{
    TAPER_TRY(taper_nnapi_plain(l, op->in[2], bias));
    if (taper_nnapi_is_constant(l, op->in[1])) {
        taper_tensor *tensor;
        // Dense ones are packed in any order: they stay where the file has them.
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
    return TAPER_NNAPI_CALL(l, TAPER_OP(aten_permute), weight, plain, dims);
}

taper_status taper_nnapi_lower_conv(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    // [out, H, W, in] to [out, in, H, W]; depthwise [1, H, W, C] to [C, 1, H, W]; transposed [out, H, W, in] to
    // [in, out, H, W].
    static const uint8_t plain[4] = {0, 3, 1, 2}, turned[4] = {3, 0, 1, 2};
    const bool depthwise = op->code == TAPER_NNAPI_DEPTHWISE_CONV_2D;
    const uint8_t *order = op->code == TAPER_NNAPI_CONV_2D ? plain : turned;
    const taper_nnapi_operand *weight = taper_nnapi_operand_of(l, op->in[1]);
    int64_t n[12] = {0}; // from 3: left, right, top, bottom, stride over width, over height
    for (uint32_t i = 3; i < op->in_count; i++) {
        TAPER_TRY(taper_nnapi_int_of(l, op->in[i], &n[i]));
    }
    const int64_t fuse = n[depthwise ? 10 : 9];
    const bool nchw = n[depthwise ? 11 : 10] != 0;
    const bool quantized = taper_nnapi_is_quantized(l, op->in[0]);
    if (weight->rank != 4 || quantized != taper_nnapi_is_quantized(l, op->in[1]) ||
        quantized != taper_nnapi_is_quantized(l, op->out[0])) {
        TAPER_FAIL(l->error, TAPER_ERROR_FILE, "operand %u, of type %u and %u dimensions, is no weight for this input",
                   op->in[1], weight->type, weight->rank);
    }
    if (depthwise && (n[9] < 1 || weight->sizes[3] % n[9] != 0)) {
        TAPER_FAIL(l->error, TAPER_ERROR_FILE, "%lld channels are not %lld for each of the input",
                   (long long)weight->sizes[3], (long long)n[9]);
    }
    if (n[3] != n[4] || n[5] != n[6]) {
        TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "more padding on one side than on the other");
    }
    const geometry g = {.stride = {n[8], n[7]},
                        .padding = {n[5], n[3]},
                        .groups = depthwise ? weight->sizes[3] / n[9] : 1,
                        .transposed = op->code == TAPER_NNAPI_TRANSPOSE_CONV_2D};
    taper_ir_value *x, *y, *w, *b, *packed, *stride, *padding, *ones, *groups;
    TAPER_TRY(taper_nnapi_image(l, op->in[0], nchw, &x));
    if (quantized) {
        TAPER_TRY(pack(l, op, order, &g, &packed));
        return packed_layer(l, op,
                            g.transposed ? TAPER_OP(quantized_conv_transpose2d)
                            : fuse == 1  ? TAPER_OP(quantized_conv2d_relu_new)
                                         : TAPER_OP(quantized_conv2d_new),
                            x, packed, fuse, !nchw);
    }
    static const int64_t one[2] = {1, 1};
    TAPER_TRY(float_weights(l, op, order, &w, &b));
    TAPER_TRY(taper_nnapi_int_list(l, g.stride, 2, &stride));
    TAPER_TRY(taper_nnapi_int_list(l, g.padding, 2, &padding));
    TAPER_TRY(taper_nnapi_int_list(l, one, 2, &ones));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(g.groups), &groups));
    TAPER_TRY(g.transposed ? TAPER_NNAPI_CALL(l, TAPER_OP(aten_conv_transpose2d_input), &y, x, w, b, stride, padding,
                                              NULL, groups, ones)
                           : TAPER_NNAPI_CALL(l, TAPER_OP(aten_conv2d), &y, x, w, b, stride, padding, ones, groups));
    TAPER_TRY(taper_nnapi_fuse(l, fuse, y, &y));
    return taper_nnapi_give(l, op->out[0], y, true, !nchw);
}

// An input of any rank is rows of as many numbers as the weight has columns.
taper_status taper_nnapi_lower_linear(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *weight = taper_nnapi_operand_of(l, op->in[1]);
    const bool quantized = taper_nnapi_is_quantized(l, op->in[0]);
    taper_ir_value *x, *y, *w, *b, *rows;
    int64_t fuse;
    TAPER_TRY(taper_nnapi_int_of(l, op->in[3], &fuse));
    if (weight->rank != 2 || quantized != taper_nnapi_is_quantized(l, op->in[1]) ||
        quantized != taper_nnapi_is_quantized(l, op->out[0])) {
        TAPER_FAIL(l->error, TAPER_ERROR_FILE, "operand %u, of type %u and %u dimensions, is no weight for this input",
                   op->in[1], weight->type, weight->rank);
    }
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    if (taper_nnapi_operand_of(l, op->in[0])->rank != 2) {
        const int64_t sizes[2] = {-1, weight->sizes[1]};
        TAPER_TRY(taper_nnapi_int_list(l, sizes, 2, &rows));
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_reshape), &x, x, rows));
    }
    if (quantized) {
        TAPER_TRY(pack(l, op, NULL, NULL, &w));
        return packed_layer(l, op, fuse == 1 ? TAPER_OP(quantized_linear_relu) : TAPER_OP(quantized_linear), x, w, fuse,
                            false);
    }
    TAPER_TRY(float_weights(l, op, NULL, &w, &b));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_linear), &y, x, w, b));
    TAPER_TRY(taper_nnapi_fuse(l, fuse, y, &y));
    return taper_nnapi_give(l, op->out[0], y, true, false);
}

// ---- pooling and resizing

// 8-bit results of the input's quantizer come from the integers; others by way of floats.
static taper_status input_as_result(taper_nnapi_lowering *l, const taper_nnapi_operation *op, bool *integers,
                                    taper_ir_value **x)
{
    *integers = taper_nnapi_is_quantized(l, op->in[0]) && taper_nnapi_same_quantizer(l, op->in[0], op->out[0]);
    return *integers ? TAPER_OK : taper_nnapi_floats(l, op->in[0], *x, x);
}

static taper_status give_result(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_ir_value *y,
                                bool integers, bool image)
{
    if (!integers) {
        return taper_nnapi_give(l, op->out[0], y, true, image);
    }
    taper_nnapi_give_kept(l, op->out[0], op->in[0], y, image);
    return TAPER_OK;
}

// The average counts the padding, as that of the model which was converted (PyTorch's converter takes no other).
taper_status taper_nnapi_lower_pool(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    // from 1: left, right, top, bottom, stride over width, over height, kernel width, height, fuse, nchw
    int64_t n[11] = {0};
    for (uint32_t i = 1; i < 11; i++) {
        TAPER_TRY(taper_nnapi_int_of(l, op->in[i], &n[i]));
    }
    const bool nchw = n[10] != 0, max = op->code == TAPER_NNAPI_MAX_POOL_2D;
    if (n[1] != n[2] || n[3] != n[4] || n[1] > n[7] / 2 || n[3] > n[8] / 2) {
        TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "more padding than half a kernel, or not the same on both sides");
    }
    const int64_t kernel[2] = {n[8], n[7]}, stride[2] = {n[6], n[5]}, padding[2] = {n[3], n[1]}, one[2] = {1, 1};
    taper_ir_value *x, *y, *k, *s, *p;
    bool integers;
    TAPER_TRY(taper_nnapi_image(l, op->in[0], nchw, &x));
    TAPER_TRY(input_as_result(l, op, &integers, &x));
    const bool whole = !max && n[1] == 0 && n[3] == 0 && kernel[0] == in->sizes[nchw ? 2 : 1] &&
                       kernel[1] == in->sizes[nchw ? 3 : 2]; // all there is
    if (whole) {
        TAPER_TRY(taper_nnapi_int_list(l, one, 2, &k));
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_adaptive_avg_pool2d), &y, x, k));
    } else {
        TAPER_TRY(taper_nnapi_int_list(l, kernel, 2, &k));
        TAPER_TRY(taper_nnapi_int_list(l, stride, 2, &s));
        TAPER_TRY(taper_nnapi_int_list(l, padding, 2, &p));
        if (max) {
            taper_ir_value *dilation;
            TAPER_TRY(taper_nnapi_int_list(l, one, 2, &dilation));
            TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_max_pool2d), &y, x, k, s, p, dilation));
        } else {
            TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_avg_pool2d), &y, x, k, s, p));
        }
    }
    TAPER_TRY(taper_nnapi_fuse(l, n[9], y, &y));
    return give_result(l, op, y, integers, !nchw);
}

// The number that a single was written as: 1.3, not 1.2999999523162842.
static double shortest(double single)
{
    char text[32];
    for (int digits = 1; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, single);
        const double read = strtod(text, NULL);
        if ((float)read == (float)single) {
            return read;
        }
    }
    return single;
}

// x, width and height (ints: sizes, floats: scales), nchw
taper_status taper_nnapi_lower_resize(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    int64_t nchw;
    double wanted[2]; // height, width
    bool integers;
    taper_ir_value *x, *y, *none, *items[2], *list;
    TAPER_TRY(taper_nnapi_number_of(l, op->in[2], &wanted[0]));
    TAPER_TRY(taper_nnapi_number_of(l, op->in[1], &wanted[1]));
    TAPER_TRY(taper_nnapi_int_of(l, op->in[3], &nchw));
    const bool scales = taper_nnapi_operand_of(l, op->in[1])->type == TAPER_NNAPI_FLOAT32;
    if (scales != (taper_nnapi_operand_of(l, op->in[2])->type == TAPER_NNAPI_FLOAT32)) {
        TAPER_FAIL(l->error, TAPER_ERROR_FILE, "a size for one side and a scale for the other");
    }
    TAPER_TRY(taper_nnapi_image(l, op->in[0], nchw != 0, &x));
    TAPER_TRY(input_as_result(l, op, &integers, &x));
    for (size_t i = 0; i < 2; i++) {
        const taper_val item = scales ? taper_val_double(shortest(wanted[i])) : taper_val_int((int64_t)wanted[i]);
        TAPER_TRY(taper_nnapi_constant(l, item, &items[i]));
    }
    TAPER_TRY(taper_nnapi_list(l, scales ? &taper_type_list_float : &taper_type_list_int, items, 2, &list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_none(), &none));
    TAPER_TRY(
        TAPER_NNAPI_CALL(l, TAPER_OP(aten_upsample_nearest2d_vec), &y, x, scales ? none : list, scales ? list : none));
    return give_result(l, op, y, integers, nchw == 0);
}
