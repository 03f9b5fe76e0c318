// SPDX-License-Identifier: BSD-2-Clause
// Operations element by element, softmax, means, and between floats and 8-bit integers.
#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"

// Both operands in one order of dimensions: as images where both have that form already, or one has and the other, a
// constant, can be seen so.
static taper_status both(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_ir_value **a,
                         taper_ir_value **b, bool *image)
{
    const uint32_t x = op->in[0], y = op->in[1];
    *image = taper_nnapi_operand_of(l, x)->rank == 4 && taper_nnapi_operand_of(l, y)->rank == 4 &&
             (l->values[x].image != NULL || taper_nnapi_is_constant(l, x)) &&
             (l->values[y].image != NULL || taper_nnapi_is_constant(l, y));
    TAPER_TRY(*image ? taper_nnapi_image(l, x, false, a) : taper_nnapi_plain(l, x, a));
    return *image ? taper_nnapi_image(l, y, false, b) : taper_nnapi_plain(l, y, b);
}

static bool same_sizes(const taper_nnapi_operand *a, const taper_nnapi_operand *b)
{
    return a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) == 0;
}

// PyTorch's sum of 8-bit tensors wants each scale within these of the result's.
static bool is_in_reach(float in, float out)
{
    return in / out >= 0x1p-14f && in / out < 0x1p+8f;
}

// Sums and products that PyTorch has for 8 bits; NULL: none, or not for these operands.
static const taper_op *quantized_row(const taper_nnapi_lowering *l, const taper_nnapi_operation *op, bool relu)
{
    const taper_nnapi_operand *a = taper_nnapi_operand_of(l, op->in[0]), *b = taper_nnapi_operand_of(l, op->in[1]),
                              *out = taper_nnapi_operand_of(l, op->out[0]);
    if (!taper_nnapi_is_quantized(l, op->in[0]) || !taper_nnapi_is_quantized(l, op->in[1]) ||
        !taper_nnapi_is_quantized(l, op->out[0]) || !same_sizes(a, b)) {
        return NULL;
    }
    if (op->code == TAPER_NNAPI_ADD && is_in_reach(a->scale, out->scale) && is_in_reach(b->scale, out->scale)) {
        return relu ? TAPER_OP(quantized_add_relu) : TAPER_OP(quantized_add);
    }
    if (op->code == TAPER_NNAPI_MUL) {
        return relu ? TAPER_OP(quantized_mul_relu) : TAPER_OP(quantized_mul);
    }
    return NULL;
}

taper_status taper_nnapi_lower_binary(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    taper_ir_value *a, *b, *y;
    int64_t fuse;
    bool image;
    if (op->code == TAPER_NNAPI_DIV && taper_nnapi_operand_of(l, op->out[0])->type == TAPER_NNAPI_TENSOR_INT32) {
        TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "a quotient of integers");
    }
    TAPER_TRY(taper_nnapi_int_of(l, op->in[2], &fuse));
    TAPER_TRY(both(l, op, &a, &b, &image));
    const taper_op *row = quantized_row(l, op, fuse == 1);
    if (row != NULL) {
        taper_ir_value *scale, *zero;
        TAPER_TRY(taper_nnapi_quantizer(l, op->out[0], &scale, &zero));
        TAPER_TRY(TAPER_NNAPI_CALL(l, row, &y, a, b, scale, zero));
        TAPER_TRY(taper_nnapi_fuse(l, fuse == 1 ? 0 : fuse, y, &y));
        return taper_nnapi_give(l, op->out[0], y, false, image);
    }
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], a, &a));
    TAPER_TRY(taper_nnapi_floats(l, op->in[1], b, &b));
    switch (op->code) {
    case TAPER_NNAPI_ADD:
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_add_Tensor), &y, a, b));
        break;
    case TAPER_NNAPI_SUB:
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_sub_Tensor), &y, a, b));
        break;
    case TAPER_NNAPI_MUL:
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_mul_Tensor), &y, a, b));
        break;
    default:
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_div_Tensor), &y, a, b));
        break;
    }
    TAPER_TRY(taper_nnapi_fuse(l, fuse, y, &y));
    return taper_nnapi_give(l, op->out[0], y, true, image);
}

// x where it is not negative, alpha x elsewhere; alpha is broadcast from the last dimension on. PyTorch's prelu has a
// number for each channel, which is what there is mostly.
taper_status taper_nnapi_lower_prelu(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]), *alpha = taper_nnapi_operand_of(l, op->in[1]);
    const bool image = in->rank == 4 && l->values[op->in[0]].image != NULL && alpha->rank == 1;
    taper_ir_value *x, *a, *y, *zero, *scaled;
    TAPER_TRY(image ? taper_nnapi_image(l, op->in[0], false, &x) : taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_plain(l, op->in[1], &a));
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    TAPER_TRY(taper_nnapi_floats(l, op->in[1], a, &a));
    if (image || (in->rank == 2 && alpha->rank == 1)) {
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_prelu), &y, x, a));
        return taper_nnapi_give(l, op->out[0], y, true, image);
    }
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(0), &zero));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_mul_Tensor), &scaled, x, a));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_ge_Scalar), &zero, x, zero));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_where_self), &y, zero, x, scaled));
    return taper_nnapi_give(l, op->out[0], y, true, false);
}

// The operand in whichever form it has.
static taper_status either_form(taper_nnapi_lowering *l, uint32_t at, taper_ir_value **value, bool *image)
{
    *image = l->values[at].plain == NULL && l->values[at].image != NULL;
    return *image ? taper_nnapi_image(l, at, false, value) : taper_nnapi_plain(l, at, value);
}

taper_status taper_nnapi_lower_unary(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *out = taper_nnapi_operand_of(l, op->out[0]);
    const bool sigmoid = op->code == TAPER_NNAPI_LOGISTIC;
    bool image, integers = taper_nnapi_is_quantized(l, op->in[0]) && taper_nnapi_is_quantized(l, op->out[0]);
    taper_ir_value *x, *y;
    if (sigmoid && out->type == TAPER_NNAPI_TENSOR_INT32) {
        TAPER_FAIL(l->error, TAPER_ERROR_FILE, "a sigmoid that is an integer");
    }
    // PyTorch's sigmoid of 8-bit integers has this quantizer, as NNAPI's.
    integers = integers && (sigmoid ? out->scale == 1.0f / 256.0f && out->zero_point == 0
                                    : taper_nnapi_same_quantizer(l, op->in[0], op->out[0]));
    TAPER_TRY(either_form(l, op->in[0], &x, &image));
    if (!integers) {
        TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    }
    if (sigmoid) {
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_sigmoid), &y, x));
    } else {
        const int64_t fuse = op->code == TAPER_NNAPI_RELU ? 1 : op->code == TAPER_NNAPI_RELU1 ? 2 : 3;
        TAPER_TRY(taper_nnapi_fuse(l, fuse, x, &y));
    }
    if (integers && !sigmoid) {
        taper_nnapi_give_kept(l, op->out[0], op->in[0], y, image);
        return TAPER_OK;
    }
    return taper_nnapi_give(l, op->out[0], y, !integers, image);
}

taper_status taper_nnapi_lower_softmax(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    double beta;
    size_t axis = 0;
    taper_ir_value *x, *y, *dim, *factor;
    TAPER_TRY(taper_nnapi_number_of(l, op->in[1], &beta));
    TAPER_TRY(taper_nnapi_axis_of(l, op->in[2], in->rank, &axis));
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    if (beta != 1.0) {
        TAPER_TRY(taper_nnapi_constant(l, taper_val_double(beta), &factor));
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_mul_Scalar), &x, x, factor));
    }
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int((int64_t)axis), &dim));
    TAPER_TRY(op->code == TAPER_NNAPI_SOFTMAX ? TAPER_NNAPI_CALL(l, TAPER_OP(aten_softmax_int), &y, x, dim)
                                              : TAPER_NNAPI_CALL(l, TAPER_OP(aten_log_softmax_int), &y, x, dim));
    return taper_nnapi_give(l, op->out[0], y, true, false);
}

// x, axes, whether they stay with size 1
taper_status taper_nnapi_lower_mean(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    int64_t axes[TAPER_MAX_RANK], keep, unique[TAPER_MAX_RANK];
    bool reduced[TAPER_MAX_RANK] = {false}, form, integers;
    size_t count, dims = 0;
    taper_ir_value *x, *y, *list, *keeps;
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[1], TAPER_MAX_RANK, axes, &count));
    TAPER_TRY(taper_nnapi_int_of(l, op->in[2], &keep));
    for (size_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + in->rank : axes[i];
        if (axis < 0 || axis >= in->rank) {
            TAPER_FAIL(l->error, TAPER_ERROR_FILE, "axis %lld of a tensor with %u dimensions", (long long)axes[i],
                       in->rank);
        }
        reduced[axis] = true;
    }
    TAPER_TRY(either_form(l, op->in[0], &x, &form));
    // Without dimensions that stay, what is left of an image is in NNAPI's order if its channels come first or alone.
    const bool image = form && (keep != 0 || reduced[3] || (reduced[1] && reduced[2]));
    if (form && !image) {
        TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    }
    integers = taper_nnapi_is_quantized(l, op->in[0]) && taper_nnapi_same_quantizer(l, op->in[0], op->out[0]);
    if (!integers) {
        TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    }
    for (size_t d = 0; d < in->rank; d++) {
        if (reduced[d]) {
            unique[dims++] = (int64_t)(image ? taper_nnapi_image_dim(d) : d);
        }
    }
    if (dims == 0) { // of PyTorch that is the mean of all
        TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "a mean over no dimension");
    }
    TAPER_TRY(taper_nnapi_int_list(l, unique, dims, &list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_bool(keep != 0), &keeps));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_mean_dim), &y, x, list, keeps));
    if (integers) {
        taper_nnapi_give_kept(l, op->out[0], op->in[0], y, image && keep != 0);
        return TAPER_OK;
    }
    return taper_nnapi_give(l, op->out[0], y, true, image && keep != 0);
}

// QUANTIZE and DEQUANTIZE: the operands' types tell which.
taper_status taper_nnapi_lower_quantize(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    taper_ir_value *x;
    bool image;
    TAPER_TRY(either_form(l, op->in[0], &x, &image));
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    return taper_nnapi_give(l, op->out[0], x, true, image);
}
