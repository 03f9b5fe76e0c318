// SPDX-License-Identifier: BSD-2-Clause
// A linear layer of weights that are dequantized in each run becomes taper::linear_integers, which keeps the integers:
// - linear(x, torchao::dequantize_affine(w, [1, group], scale, zero_point, …), bias)
// - linear(x, w.to(dtype), bias) and mm(x, w.t().to(dtype)), which are multiplied by the scale afterwards
// w is a constant matrix of int8, and scale and zero_point are constants. Only programs at load are changed: what is
// saved keeps the exporter's operators.
#include "compiler/layer.h"
#include "ir/tensor.h"

typedef struct narrow_weight {
    taper_ir_value *integers;    // a constant of int8, [out, in]
    taper_tensor *scale, *point; // NULL: 1 and 0
    int64_t groups;
    bool nibbles; // the operator says that they are -8 to 7
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

// The group of a constant block size [1, group] that divides the inputs; 0: it is something else.
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

// Argument `index`: a constant with a real number for each group, or None where that is allowed.
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

static bool is_number_at(const taper_node *node, size_t index, double wanted)
{
    double number;
    return taper_node_constant_is_number(node, index, &number) && number == wanted;
}

static bool match_dequantize(const taper_compilation *compilation, const taper_node *node, narrow_weight *weight)
{
    weight->integers = taper_node_in(node, 0);
    const taper_tensor *w = constant_tensor(compilation, weight->integers);
    const int64_t group = is_int8_matrix(w) ? constant_group(node, w->sizes[1]) : 0;
    if (group == 0 || !is_number_at(node, 4, TAPER_I8)) {
        return false;
    }
    double low, high;
    weight->groups = w->sizes[1] / group;
    weight->nibbles = taper_node_constant_is_number(node, 5, &low) && taper_node_constant_is_number(node, 6, &high) &&
                      low >= -8 && high <= 7;
    const int64_t count = w->sizes[0] * weight->groups; // at most the number of weights
    return constant_numbers(compilation, node, 2, count, false, &weight->scale) &&
           constant_numbers(compilation, node, 3, count, true, &weight->point);
}

// turned: of a product, whose second matrix is [in, out].
static bool match(const taper_compilation *compilation, const taper_ir_value *value, bool turned, narrow_weight *weight)
{
    const taper_node *node = value->node;
    *weight = (narrow_weight){.groups = 1};
    if (node == NULL || node->kind != TAPER_NODE_OP) {
        return false;
    }
    if (!turned && taper_node_calls(node, TAPER_OP(torchao_dequantize_affine))) {
        return match_dequantize(compilation, node, weight);
    }
    if (!taper_node_calls(node, TAPER_OP(aten_to_dtype))) {
        return false;
    }
    weight->integers = turned ? taper_transposed_of(taper_node_in(node, 0)) : taper_node_in(node, 0);
    return is_int8_matrix(constant_tensor(compilation, weight->integers));
}

// Numbers of [out, groups] as a constant of floats; None where they are all 0 and that is what None stands for.
static taper_status floats_before(taper_compilation *compilation, taper_node *before, const taper_tensor *numbers,
                                  int64_t out, int64_t groups, taper_ir_value **made)
{
    bool all_zero = true;
    taper_tensor *floats;
    if (numbers == NULL) {
        return taper_constant_before(before, taper_val_none(), made, compilation->error);
    }
    const int64_t sizes[2] = {out, groups};
    TAPER_TRY(taper_tensor_new(compilation->module->heap, TAPER_F32, 2, sizes, NULL, &floats, compilation->error));
    float *to = taper_tensor_mutable(floats);
    for (int64_t i = 0; i < out * groups; i++) {
        to[i] = (float)taper_load_double((taper_dtype)numbers->dtype, taper_tensor_data(numbers), i);
        all_zero = all_zero && to[i] == 0.0f;
    }
    if (all_zero) {
        taper_obj_release(&floats->head);
        return taper_constant_before(before, taper_val_none(), made, compilation->error);
    }
    return taper_constant_before(before, TAPER_VAL(floats), made, compilation->error);
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    const bool product = taper_node_calls(node, TAPER_OP(aten_mm));
    narrow_weight weight;
    if ((!product && !taper_node_calls(node, TAPER_OP(aten_linear))) || node->schema->out_count != 0 ||
        !match(compilation, taper_node_in(node, 1), product, &weight)) {
        return TAPER_OK;
    }
    const int64_t out = weight.integers->node->constant.as.tensor->sizes[0];
    taper_ir_value *scale, *point, *bias, *bits;
    taper_node *made;
    TAPER_TRY(taper_op_before(compilation, node, TAPER_OP(taper_linear_integers), &made));
    if (made == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(floats_before(compilation, made, weight.scale, out, weight.groups, &scale));
    TAPER_TRY(floats_before(compilation, made, weight.point, out, weight.groups, &point));
    if (product) {
        TAPER_TRY(taper_constant_before(made, taper_val_none(), &bias, compilation->error));
    } else {
        bias = taper_node_in(node, 2);
    }
    TAPER_TRY(taper_constant_before(made, taper_val_int(weight.nibbles ? 4 : 8), &bits, compilation->error));
    taper_ir_value *const inputs[] = {taper_node_in(node, 0), weight.integers, scale, point, bias, bits};
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
