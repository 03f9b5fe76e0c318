// SPDX-License-Identifier: BSD-2-Clause
// Replaces a linear layer whose integer weights are dequantized in each run by taper::linear_integers, which keeps the
// integers. The pass handles these forms:
// - linear(x, torchao::dequantize_affine(w, [1, group], scale, zero_point, …), bias)
// - linear(x, w.to(dtype), bias) and mm(x, w.t().to(dtype)), followed by a multiplication by the scale
// - mm(x, ((w.to(dtype) - zero_point) * scale).view(…).t()), the core operators for the first form; also addmm
// w is a constant int8 matrix; scale and zero_point are constants. Scales and zero points are stored as half floats if
// this is exact. The pass runs only while a model is loaded: saved files keep the exporter's operators.
#include "base/half.h"
#include "compiler/layer.h"
#include "ir/tensor.h"

typedef struct narrow_weight {
    taper_ir_value *integers; // constant int8 tensor; if it is a matrix and not `turned`, [out, in]
    bool turned;              // true if the integers are stored as [in, out]
    int64_t out, in;
    taper_tensor *scale, *point; // scale and zero point; NULL means scale 1 and zero point 0
    int64_t groups;
    bool nibbles; // true if the operator states that all integers are from -8 to 7
    double dtype; // number of the float dtype to which the integers are dequantized
} narrow_weight;

static taper_tensor *constant_tensor(const taper_compilation *compilation, const taper_ir_value *value)
{
    const taper_node *node = value != NULL ? taper_value_constant(value) : NULL;
    if (node == NULL || node->constant.tag != TAPER_TENSOR || taper_is_written(compilation, node->constant)) {
        return NULL;
    }
    return node->constant.as.tensor;
}

static bool is_int8_matrix(const taper_tensor *t)
{
    return t != NULL && t->dtype == TAPER_I8 && t->rank == 2 && t->sizes[0] > 0 && t->sizes[1] > 0;
}

// Returns the group size of a constant block size [1, group], or 0 if `in` is not a multiple of the group size.
static int64_t constant_group(const taper_node *node, int64_t in)
{
    const taper_val *list = taper_node_constant_in(node, 1);
    if (list == NULL || list->tag != TAPER_LIST || list->as.list->count != 2) {
        return 0;
    }
    const taper_val *items = list->as.list->items;
    const bool fits = items[0].tag == TAPER_INT && items[0].as.i == 1 && items[1].tag == TAPER_INT &&
                      items[1].as.i > 0 && in % items[1].as.i == 0;
    return fits ? items[1].as.i : 0;
}

// Returns true if argument `index` is a constant tensor with `count` real numbers, one for each group. If may_be_none
// is set, also returns true for None, and sets *numbers to NULL.
static bool constant_numbers(const taper_compilation *compilation, const taper_node *node, size_t index, int64_t count,
                             bool may_be_none, taper_tensor **numbers)
{
    const taper_val *constant = taper_node_constant_in(node, index);
    *numbers = constant_tensor(compilation, taper_node_in(node, index));
    if (*numbers == NULL) {
        return may_be_none && constant != NULL && constant->tag == TAPER_NONE;
    }
    const taper_tensor *t = *numbers;
    return taper_tensor_numel(t) == count && taper_tensor_is_contiguous(t) &&
           (taper_dtype_is_float((taper_dtype)t->dtype) || taper_dtype_is_integral((taper_dtype)t->dtype));
}

static bool is_layer_dtype(double dtype)
{
    return dtype == TAPER_F32 || dtype == TAPER_BF16 || dtype == TAPER_F16;
}

// Returns true if argument `index` is a constant dtype that the layer supports.
static bool is_float_at(const taper_node *node, size_t index, double *dtype)
{
    return taper_node_constant_is_number(node, index, dtype) && is_layer_dtype(*dtype);
}

// Reads a bound of int8 from a constant argument. If the argument is None, *bound is `none`.
static bool is_bound_at(const taper_node *node, size_t index, double none, double *bound)
{
    const taper_val *constant = taper_node_constant_in(node, index);
    *bound = none;
    return constant != NULL && (constant->tag == TAPER_NONE || taper_node_constant_is_number(node, index, bound)) &&
           *bound >= INT8_MIN && *bound <= INT8_MAX;
}

static bool match_dequantize(const taper_compilation *compilation, const taper_node *node, narrow_weight *weight)
{
    weight->integers = taper_node_in(node, 0);
    const taper_tensor *w = constant_tensor(compilation, weight->integers);
    const int64_t group = is_int8_matrix(w) ? constant_group(node, w->sizes[1]) : 0;
    if (group == 0 || !taper_node_constant_equals(node, 4, TAPER_I8) || !is_float_at(node, 7, &weight->dtype)) {
        return false;
    }
    double low, high;
    weight->out = w->sizes[0];
    weight->in = w->sizes[1];
    weight->groups = w->sizes[1] / group;
    if (!is_bound_at(node, 5, INT8_MIN, &low) || !is_bound_at(node, 6, INT8_MAX, &high) || low >= high) {
        return false;
    }
    weight->nibbles = low >= -8 && high <= 7;
    const int64_t count = w->sizes[0] * weight->groups; // cannot overflow: at most the number of weights
    return constant_numbers(compilation, node, 2, count, false, &weight->scale) &&
           constant_numbers(compilation, node, 3, count, true, &weight->point);
}

// Returns true if the node only converts its input to a constant dtype that the layer supports.
static bool is_conversion(const taper_node *node, double *dtype)
{
    return node != NULL && taper_node_converts(node, dtype) && is_layer_dtype(*dtype);
}

static bool match_converted(const taper_compilation *compilation, const taper_node *node, bool turned,
                            narrow_weight *weight)
{
    taper_ir_value *value = taper_node_in(node, 0), *other = turned ? taper_transposed_of(value) : NULL;
    weight->integers = other != NULL ? other : value;
    weight->turned = turned && other == NULL;
    const taper_tensor *w = constant_tensor(compilation, weight->integers);
    if (!is_int8_matrix(w)) {
        return false;
    }
    weight->out = w->sizes[weight->turned ? 1 : 0];
    weight->in = w->sizes[weight->turned ? 0 : 1];
    return true;
}

// Returns the constant with one number for each group of the weight w, or NULL if `value` is something else. w has the
// sizes [out, groups, group] or [out, group]; the constant has the same sizes, except 1 as the last one. An operation
// on this constant and the converted weights must give the dtype of the converted weights.
static taper_tensor *constant_of_groups(const taper_compilation *compilation, const taper_ir_value *value,
                                        const taper_tensor *w, double floats)
{
    double dtype;
    const bool converted = is_conversion(value->node, &dtype);
    taper_tensor *t = constant_tensor(compilation, converted ? taper_node_in(value->node, 0) : value);
    if (t == NULL || t->rank != w->rank || t->sizes[t->rank - 1u] != 1 || !taper_tensor_is_contiguous(t) ||
        memcmp(t->sizes, w->sizes, (t->rank - 1u) * sizeof *t->sizes) != 0) {
        return NULL;
    }
    const bool whole = taper_dtype_is_integral((taper_dtype)t->dtype);
    const bool fits = converted ? dtype == floats && (whole || taper_dtype_is_float((taper_dtype)t->dtype))
                                : whole || t->dtype == floats;
    return fits ? t : NULL;
}

static bool are_nibbles(const taper_tensor *w)
{
    const int8_t *numbers = taper_tensor_data(w);
    const int64_t count = taper_tensor_numel(w);
    int64_t i = 0;
    while (i < count && numbers[i] >= -8 && numbers[i] <= 7) {
        i++;
    }
    return i == count;
}

// Matches view(mul(sub(convert(w), zero_point), scale), [out, in]).
static bool match_steps(const taper_compilation *compilation, const taper_ir_value *value, narrow_weight *weight)
{
    const taper_node *view = value->node, *product = NULL, *sum = NULL;
    if (view != NULL && taper_node_calls(view, TAPER_OP(aten_view))) {
        product = taper_node_in(view, 0)->node;
    }
    if (product == NULL || !taper_node_calls(product, TAPER_OP(aten_mul_Tensor))) {
        return false;
    }
    const taper_node *converted = taper_node_in(product, 0)->node;
    if (converted != NULL && taper_node_calls(converted, TAPER_OP(aten_sub_Tensor)) &&
        taper_node_constant_equals(converted, 2, 1)) {
        sum = converted;
        converted = taper_node_in(sum, 0)->node;
    }
    if (!is_conversion(converted, &weight->dtype)) {
        return false;
    }
    weight->integers = taper_node_in(converted, 0);
    const taper_tensor *w = constant_tensor(compilation, weight->integers);
    const taper_val *sizes = taper_node_constant_in(view, 1);
    if (w == NULL || w->dtype != TAPER_I8 || (w->rank != 2 && w->rank != 3) || taper_tensor_numel(w) == 0 ||
        !taper_tensor_is_contiguous(w) || sizes == NULL || sizes->tag != TAPER_LIST || sizes->as.list->count != 2) {
        return false;
    }
    weight->out = w->sizes[0];
    weight->groups = w->rank == 3 ? w->sizes[1] : 1;
    weight->in = weight->groups * w->sizes[w->rank - 1u]; // cannot overflow: at most the number of weights
    const taper_val *items = sizes->as.list->items;
    weight->scale = constant_of_groups(compilation, taper_node_in(product, 1), w, weight->dtype);
    weight->point = sum != NULL ? constant_of_groups(compilation, taper_node_in(sum, 1), w, weight->dtype) : NULL;
    if (items[0].tag != TAPER_INT || items[0].as.i != weight->out || items[1].tag != TAPER_INT ||
        items[1].as.i != weight->in || weight->scale == NULL || weight->scale->dtype != weight->dtype ||
        (sum != NULL && weight->point == NULL)) {
        return false;
    }
    weight->nibbles = are_nibbles(w);
    return true;
}

// Returns true if `value` is a dequantized weight. turned: true for the second matrix of a product, which is [in, out].
static bool match(const taper_compilation *compilation, const taper_ir_value *value, bool turned, narrow_weight *weight)
{
    const taper_node *node = value->node;
    *weight = (narrow_weight){.groups = 1};
    if (node == NULL || node->kind != TAPER_NODE_OP) {
        return false;
    }
    if (is_conversion(node, &weight->dtype)) {
        return match_converted(compilation, node, turned, weight);
    }
    if (!turned && taper_node_calls(node, TAPER_OP(torchao_dequantize_affine))) {
        return match_dequantize(compilation, node, weight);
    }
    const taper_ir_value *matrix = turned ? taper_transposed_of(value) : value;
    return matrix != NULL && match_steps(compilation, matrix, weight);
}

// Inserts nodes that make the integers a matrix [out, in].
static taper_status integers_before(taper_compilation *compilation, taper_node *before, const narrow_weight *weight,
                                    taper_ir_value **made)
{
    const taper_tensor *w = weight->integers->node->constant.as.tensor;
    taper_tensor *view;
    *made = weight->integers;
    if (w->rank == 2 && !weight->turned) {
        return TAPER_OK;
    }
    const int64_t sizes[2] = {weight->out, weight->in};
    const int64_t strides[2] = {weight->turned ? w->strides[1] : weight->in, weight->turned ? w->strides[0] : 1};
    TAPER_TRY(taper_tensor_view(compilation->module->heap, w->storage, TAPER_I8, w->offset, 2, sizes, strides, &view,
                                compilation->error));
    return taper_constant_before(before, TAPER_VAL(view), made, compilation->error);
}

static float number_at(const taper_tensor *numbers, int64_t index)
{
    const void *data = taper_tensor_data(numbers);
    switch (numbers->dtype) { // for speed, dtypes of large tensors have their own cases
    case TAPER_F32:
        return ((const float *)data)[index];
    case TAPER_BF16:
        return taper_bf16_to_float(((const uint16_t *)data)[index]);
    default:
        return (float)taper_load_double((taper_dtype)numbers->dtype, data, index);
    }
}

static bool all_are_zero(const taper_tensor *numbers)
{
    const int64_t count = taper_tensor_numel(numbers);
    int64_t i = 0;
    while (i < count && number_at(numbers, i) == 0.0f) {
        i++;
    }
    return i == count;
}

// Returns true if every number can be stored in the dtype, float16 or bfloat16, without rounding.
static bool holds_all(taper_dtype dtype, const taper_tensor *numbers)
{
    const int64_t count = numbers != NULL ? taper_tensor_numel(numbers) : 0;
    for (int64_t i = 0; i < count; i++) {
        const float number = number_at(numbers, i);
        const float held = dtype == TAPER_F16 ? taper_f16_to_float(taper_float_to_f16(number))
                                              : taper_bf16_to_float(taper_float_to_bf16(number));
        if (!(held == number)) {
            return false;
        }
    }
    return true;
}

// Inserts a constant of the dtype with the sizes [out, groups], or None if numbers is NULL. The dtype must be float32
// or store every number without rounding.
static taper_status numbers_before(taper_compilation *compilation, taper_node *before, const taper_tensor *numbers,
                                   const narrow_weight *weight, taper_dtype dtype, taper_ir_value **made)
{
    taper_tensor *copy;
    if (numbers == NULL) {
        return taper_constant_before(before, taper_val_none(), made, compilation->error);
    }
    const int64_t sizes[2] = {weight->out, weight->groups};
    TAPER_TRY(taper_tensor_new(compilation->module->heap, dtype, 2, sizes, NULL, &copy, compilation->error));
    for (int64_t i = 0; i < weight->out * weight->groups; i++) {
        const float number = number_at(numbers, i);
        if (dtype == TAPER_F32) {
            ((float *)taper_tensor_mutable(copy))[i] = number;
        } else {
            ((uint16_t *)taper_tensor_mutable(copy))[i] =
                dtype == TAPER_F16 ? taper_float_to_f16(number) : taper_float_to_bf16(number);
        }
    }
    return taper_constant_before(before, TAPER_VAL(copy), made, compilation->error);
}

// Returns true if `value` is None or a constant with one number for each output.
static bool is_plain_bias(const taper_compilation *compilation, const taper_ir_value *value, int64_t out)
{
    const taper_node *node = taper_value_constant(value);
    const taper_tensor *bias = constant_tensor(compilation, value);
    return (node != NULL && node->constant.tag == TAPER_NONE) ||
           (bias != NULL && bias->rank == 1 && bias->sizes[0] == out);
}

// Returns true if the bias of a linear layer or an addmm is None or a constant with one number for each output. An
// addmm must also have beta and alpha 1.
static bool adds_plain_bias(const taper_compilation *compilation, const taper_node *node, bool linear, int64_t out)
{
    return is_plain_bias(compilation, taper_node_in(node, linear ? 2 : 0), out) &&
           (linear || (taper_node_constant_equals(node, 3, 1) && taper_node_constant_equals(node, 4, 1)));
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    const bool linear = taper_node_calls(node, TAPER_OP(aten_linear)),
               adds = taper_node_calls(node, TAPER_OP(aten_addmm));
    narrow_weight weight;
    if ((!linear && !adds && !taper_node_calls(node, TAPER_OP(aten_mm))) || node->schema->out_count != 0 ||
        !match(compilation, taper_node_in(node, adds ? 2 : 1), !linear, &weight) ||
        ((linear || adds) && !adds_plain_bias(compilation, node, linear, weight.out))) {
        return TAPER_OK;
    }
    taper_ir_value *integers, *scale, *point, *bias, *bits, *dtype, *matrix;
    taper_node *made;
    TAPER_TRY(taper_op_before(compilation, node, TAPER_OP(taper_linear_integers), &made));
    if (made == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(integers_before(compilation, made, &weight, &integers));
    const taper_tensor *points = weight.point != NULL && !all_are_zero(weight.point) ? weight.point : NULL;
    const taper_dtype numbers = holds_all(TAPER_F16, weight.scale) && holds_all(TAPER_F16, points)     ? TAPER_F16
                                : holds_all(TAPER_BF16, weight.scale) && holds_all(TAPER_BF16, points) ? TAPER_BF16
                                                                                                       : TAPER_F32;
    TAPER_TRY(numbers_before(compilation, made, weight.scale, &weight, numbers, &scale));
    TAPER_TRY(numbers_before(compilation, made, points, &weight, numbers, &point));
    if (linear || adds) {
        bias = taper_node_in(node, linear ? 2 : 0);
    } else {
        TAPER_TRY(taper_constant_before(made, taper_val_none(), &bias, compilation->error));
    }
    TAPER_TRY(taper_constant_before(made, taper_val_int(weight.nibbles ? 4 : 8), &bits, compilation->error));
    TAPER_TRY(taper_constant_before(made, taper_val_int((int64_t)weight.dtype), &dtype, compilation->error));
    TAPER_TRY(taper_constant_before(made, taper_val_bool(!linear), &matrix, compilation->error));
    taper_ir_value *const inputs[] = {
        taper_node_in(node, adds ? 1 : 0), integers, scale, point, bias, bits, dtype, matrix};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        taper_node_set_input(made, i, inputs[i]);
    }
    taper_node_replace(node, made);
    return TAPER_OK;
}

taper_status taper_pass_narrow_weights(taper_compilation *compilation, taper_graph *graph)
{
    TAPER_TRY(taper_written_storages_find(compilation));
    return taper_visit_nodes(compilation, graph->body, visit);
}
