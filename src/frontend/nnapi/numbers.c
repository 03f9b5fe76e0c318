// SPDX-License-Identifier: BSD-2-Clause
// Lowers element-wise operations, activations, softmax, reductions, and conversions between floats and 8-bit integers.
#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"

static bool is_one_number(const taper_nnapi_operand *operand)
{
    bool one = operand->rank <= 4;
    for (uint32_t d = 0; d < operand->rank; d++) {
        one = one && operand->sizes[d] == 1;
    }
    return one;
}

// Returns true if the operand can be used as [N, C, H, W]: it has this form already, or it is a constant or a number
// that can be converted.
static bool fits_images(const taper_nnapi_lowering *l, uint32_t at)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    return (operand->rank == 4 && l->values[at].image != NULL) || is_one_number(operand) ||
           (taper_nnapi_is_constant(l, at) && operand->rank <= 4 && taper_nnapi_dtype(operand->type) != TAPER_I16);
}

static taper_status one_of_both(taper_nnapi_lowering *l, uint32_t at, bool image, taper_ir_value **value)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    if (!image || (is_one_number(operand) && l->values[at].image == NULL)) {
        return taper_nnapi_plain(l, at, value);
    }
    return operand->rank == 4 ? taper_nnapi_image(l, at, false, value) : taper_nnapi_low_image(l, at, value);
}

// Gets both operands in the same order of dimensions. *image is true for [N, C, H, W], which is chosen if one operand
// has this form and the other one can be converted.
static taper_status both(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_ir_value **a,
                         taper_ir_value **b, bool *image)
{
    const uint32_t x = op->in[0], y = op->in[1];
    const bool rank = taper_nnapi_operand_of(l, x)->rank == 4 || taper_nnapi_operand_of(l, y)->rank == 4;
    *image =
        rank && (l->values[x].image != NULL || l->values[y].image != NULL) && fits_images(l, x) && fits_images(l, y);
    TAPER_TRY(one_of_both(l, x, *image, a));
    return one_of_both(l, y, *image, b);
}

static bool same_sizes(const taper_nnapi_operand *a, const taper_nnapi_operand *b)
{
    return a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) == 0;
}

// Returns true if PyTorch's sum of 8-bit tensors supports the ratio of an input's scale to the result's scale.
static bool is_in_reach(float in, float out)
{
    return in / out >= 0x1p-14f && in / out < 0x1p+8f;
}

// Returns PyTorch's 8-bit operator for a sum or product, or NULL if no operator supports these operands. relu: true to
// include a relu.
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

static const taper_op *float_row(uint32_t code)
{
    switch (code) {
    case TAPER_NNAPI_ADD:
        return TAPER_OP(aten_add_Tensor);
    case TAPER_NNAPI_SUB:
        return TAPER_OP(aten_sub_Tensor);
    case TAPER_NNAPI_MUL:
        return TAPER_OP(aten_mul_Tensor);
    case TAPER_NNAPI_MAXIMUM:
        return TAPER_OP(aten_maximum);
    case TAPER_NNAPI_MINIMUM:
        return TAPER_OP(aten_minimum);
    case TAPER_NNAPI_POW:
        return TAPER_OP(aten_pow_Tensor_Tensor);
    default:
        return TAPER_OP(aten_div_Tensor);
    }
}

taper_status taper_nnapi_fuse(taper_nnapi_lowering *l, int64_t code, taper_ir_value *value, taper_ir_value **made)
{
    static const int8_t bounds[4][2] = {{0, 0}, {0, 0}, {-1, 1}, {0, 6}};
    if (code < 0 || code > 3) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "an activation %lld, known are 0 to 3", (long long)code);
    }
    *made = value;
    if (code == 1) {
        return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_relu), made, value);
    }
    if (code != 0) {
        taper_ir_value *low, *high;
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(bounds[code][0]), &low));
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(bounds[code][1]), &high));
        return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_hardtanh), made, value, low, high);
    }
    return TAPER_OK;
}

// Lowers an operation on two operands, and the activation that it may include.
taper_status taper_nnapi_lower_binary(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    taper_ir_value *a, *b, *y;
    int64_t fuse = 0;
    bool image;
    if (taper_nnapi_operand_of(l, op->out[0])->type == TAPER_NNAPI_TENSOR_INT32 &&
        (op->code == TAPER_NNAPI_DIV || op->code == TAPER_NNAPI_POW)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a quotient or a power of integers");
    }
    if (op->in_count == 3) {
        TAPER_TRY(taper_nnapi_int_of(l, op->in[2], &fuse));
    }
    TAPER_TRY(both(l, op, &a, &b, &image));
    const taper_op *row = quantized_row(l, op, fuse == 1);
    if (row != NULL) {
        taper_ir_value *scale, *zero;
        TAPER_TRY(taper_nnapi_quantizer(l, op->out[0], &scale, &zero));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, row, &y, a, b, scale, zero));
        TAPER_TRY(taper_nnapi_fuse(l, fuse == 1 ? 0 : fuse, y, &y));
        return taper_nnapi_give(l, op->out[0], y, false, image);
    }
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], a, &a));
    TAPER_TRY(taper_nnapi_floats(l, op->in[1], b, &b));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, float_row(op->code), &y, a, b));
    TAPER_TRY(taper_nnapi_fuse(l, fuse, y, &y));
    return taper_nnapi_give(l, op->out[0], y, true, image);
}

// Lowers PReLU: x if x is not negative, otherwise alpha x. alpha is aligned at the last dimension. PyTorch's prelu
// takes one number, or one number for each channel, which covers most models.
taper_status taper_nnapi_lower_prelu(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]), *alpha = taper_nnapi_operand_of(l, op->in[1]);
    const bool one = alpha->rank == 1 && is_one_number(alpha);
    const bool image = in->rank == 4 && l->values[op->in[0]].image != NULL && alpha->rank == 1;
    taper_ir_value *x, *a, *y, *zero, *scaled;
    TAPER_TRY(image ? taper_nnapi_image(l, op->in[0], false, &x) : taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_plain(l, op->in[1], &a));
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    TAPER_TRY(taper_nnapi_floats(l, op->in[1], a, &a));
    if (image || one || (in->rank == 2 && alpha->rank == 1)) {
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_prelu), &y, x, a));
        return taper_nnapi_give(l, op->out[0], y, true, image);
    }
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(0), &zero));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_mul_Tensor), &scaled, x, a));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_ge_Scalar), &zero, x, zero));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_where_self), &y, zero, x, scaled));
    return taper_nnapi_give(l, op->out[0], y, true, false);
}

// Lowers RELU, RELU1 and RELU6.
taper_status taper_nnapi_lower_activation(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const int64_t fuse = op->code == TAPER_NNAPI_RELU ? 1 : op->code == TAPER_NNAPI_RELU1 ? 2 : 3;
    const bool integers =
        taper_nnapi_is_quantized(l, op->in[0]) && taper_nnapi_same_quantizer(l, op->in[0], op->out[0]);
    bool image;
    taper_ir_value *x, *y;
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    if (!integers) {
        TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    }
    TAPER_TRY(taper_nnapi_fuse(l, fuse, x, &y));
    if (integers) {
        taper_nnapi_give_kept(l, op->out[0], op->in[0], y, image);
        return TAPER_OK;
    }
    return taper_nnapi_give(l, op->out[0], y, true, image);
}

static const taper_op *unary_row(uint32_t code)
{
    switch (code) {
    case TAPER_NNAPI_LOGISTIC:
        return TAPER_OP(aten_sigmoid);
    case TAPER_NNAPI_TANH:
        return TAPER_OP(aten_tanh);
    case TAPER_NNAPI_HARD_SWISH:
        return TAPER_OP(aten_hardswish);
    case TAPER_NNAPI_ABS:
        return TAPER_OP(aten_abs);
    case TAPER_NNAPI_NEG:
        return TAPER_OP(aten_neg);
    case TAPER_NNAPI_EXP:
        return TAPER_OP(aten_exp);
    case TAPER_NNAPI_LOG:
        return TAPER_OP(aten_log);
    case TAPER_NNAPI_SQRT:
        return TAPER_OP(aten_sqrt);
    case TAPER_NNAPI_RSQRT:
        return TAPER_OP(aten_rsqrt);
    default:
        return TAPER_OP(aten_floor);
    }
}

taper_status taper_nnapi_lower_unary(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]), *out = taper_nnapi_operand_of(l, op->out[0]);
    const bool whole = in->type == TAPER_NNAPI_TENSOR_INT32;
    const bool quantized = taper_nnapi_is_quantized(l, op->in[0]) && taper_nnapi_is_quantized(l, op->out[0]);
    bool image;
    taper_ir_value *x, *y, *scale, *zero;
    if (whole != (out->type == TAPER_NNAPI_TENSOR_INT32) ||
        (whole && op->code != TAPER_NNAPI_ABS && op->code != TAPER_NNAPI_NEG)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "an operand of type %u becomes one of type %u", in->type,
                   out->type);
    }
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    if (quantized && op->code == TAPER_NNAPI_HARD_SWISH) {
        TAPER_TRY(taper_nnapi_quantizer(l, op->out[0], &scale, &zero));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(quantized_hardswish), &y, x, scale, zero));
        return taper_nnapi_give(l, op->out[0], y, false, image);
    }
    // In PyTorch the results of 8-bit sigmoid and tanh always have these quantizers, as in NNAPI.
    const bool integers =
        quantized && ((op->code == TAPER_NNAPI_LOGISTIC && out->scale == 1.0f / 256.0f && out->zero_point == 0) ||
                      (op->code == TAPER_NNAPI_TANH && out->scale == 1.0f / 128.0f && out->zero_point == 128));
    if (!integers) {
        TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    }
    TAPER_TRY(TAPER_NNAPI_EMIT(l, unary_row(op->code), &y, x));
    return taper_nnapi_give(l, op->out[0], y, !integers, image);
}

taper_status taper_nnapi_lower_softmax(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    double beta;
    size_t axis = in->rank == 0 ? 0 : in->rank - 1; // the default is the last axis
    taper_ir_value *x, *y, *dim, *factor;
    TAPER_TRY(taper_nnapi_number_of(l, op->in[1], &beta));
    TAPER_TRY(op->in_count > 2 ? taper_nnapi_axis_of(l, op->in[2], in->rank, &axis) : TAPER_OK);
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    if (beta != 1.0) {
        TAPER_TRY(taper_nnapi_constant(l, taper_val_double(beta), &factor));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_mul_Scalar), &x, x, factor));
    }
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int((int64_t)axis), &dim));
    TAPER_TRY(op->code == TAPER_NNAPI_SOFTMAX ? TAPER_NNAPI_EMIT(l, TAPER_OP(aten_softmax_int), &y, x, dim)
                                              : TAPER_NNAPI_EMIT(l, TAPER_OP(aten_log_softmax_int), &y, x, dim));
    return taper_nnapi_give(l, op->out[0], y, true, false);
}

static const taper_op *reduce_row(uint32_t code)
{
    switch (code) {
    case TAPER_NNAPI_MEAN:
        return TAPER_OP(aten_mean_dim);
    case TAPER_NNAPI_REDUCE_SUM:
        return TAPER_OP(aten_sum_dim_IntList);
    case TAPER_NNAPI_REDUCE_MAX:
        return TAPER_OP(aten_amax);
    default:
        return TAPER_OP(aten_amin);
    }
}

// The inputs are x, the axes, and true to keep the axes with size 1.
taper_status taper_nnapi_lower_reduce(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]), *out = taper_nnapi_operand_of(l, op->out[0]);
    const bool mean = op->code == TAPER_NNAPI_MEAN, sum = op->code == TAPER_NNAPI_REDUCE_SUM;
    static const int64_t one[1] = {1};
    int64_t keep, dims[TAPER_MAX_RANK];
    bool reduced[TAPER_MAX_RANK], image, integers;
    size_t count, dim_count = 0;
    taper_ir_value *x, *y, *list, *keeps, *scale, *zero;
    TAPER_TRY(taper_nnapi_axes_of(l, op->in[1], in->rank, reduced, &count));
    TAPER_TRY(taper_nnapi_int_of(l, op->in[2], &keep));
    if (count == 0) { // an empty list of axes means all dimensions in PyTorch
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a reduction over no dimension");
    }
    if (in->type == TAPER_NNAPI_TENSOR_INT32 || out->type == TAPER_NNAPI_TENSOR_INT32) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a reduction of integers");
    }
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    if (image && keep == 0 && !taper_nnapi_keeps_order(reduced)) {
        TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
        image = false;
    }
    integers = !sum && taper_nnapi_is_quantized(l, op->in[0]) && taper_nnapi_same_quantizer(l, op->in[0], op->out[0]);
    if (!integers) {
        TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    } else if (!mean) { // the integers have the same order as the reals, so no conversion is needed
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_int_repr), &x, x));
    }
    for (size_t d = 0; d < in->rank; d++) {
        if (reduced[d]) {
            dims[dim_count++] = (int64_t)(image ? taper_nnapi_image_dim(d) : d);
        }
    }
    // A reduction over all dimensions gives one dimension of size 1, unless the model declares a result without
    // dimensions.
    const bool all = keep == 0 && dim_count == in->rank && out->rank == 1;
    TAPER_TRY(taper_nnapi_int_list(l, dims, dim_count, &list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_bool(keep != 0), &keeps));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, reduce_row(op->code), &y, x, list, keeps));
    if (all) {
        TAPER_TRY(taper_nnapi_int_list(l, one, 1, &list));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_reshape), &y, y, list));
    }
    image = image && keep != 0;
    if (integers && mean) {
        taper_nnapi_give_kept(l, op->out[0], op->in[0], y, image);
        return TAPER_OK;
    }
    if (integers) {
        TAPER_TRY(taper_nnapi_quantizer(l, op->out[0], &scale, &zero));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten__make_per_tensor_quantized_tensor), &y, y, scale, zero));
    }
    return taper_nnapi_give(l, op->out[0], y, !integers, image);
}

// Lowers QUANTIZE and DEQUANTIZE; the types of the operands tell which conversion is needed.
taper_status taper_nnapi_lower_quantize(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    taper_ir_value *x;
    bool image;
    TAPER_TRY(taper_nnapi_either(l, op->in[0], &x, &image));
    TAPER_TRY(taper_nnapi_floats(l, op->in[0], x, &x));
    return taper_nnapi_give(l, op->out[0], x, true, image);
}
