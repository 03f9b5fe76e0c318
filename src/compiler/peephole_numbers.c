// SPDX-License-Identifier: BSD-2-Clause
// Replaces integers that tracing computed with tensors: int(torch.tensor(x.size(0)) * 3) becomes x.size(0) * 3. Then no
// tensor is made, and passes that know sizes also know these numbers.
#include "compiler/peephole.h"
#include "ir/tensor_def.h"

enum { MOST_DEPTH = 8 }; // limit on the depth of nested operators

typedef struct number {
    taper_ir_value *value;
    bool natural; // true if the number cannot be negative, so that all ways to round a quotient give the same result
} number;

static taper_status number_of(taper_peephole *p, taper_node *before, taper_ir_value *tensor, int depth, number *n);

static bool is_natural(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    return constant != NULL ? constant->constant.tag == TAPER_INT && constant->constant.as.i >= 0
                            : value->node != NULL && taper_node_calls(value->node, TAPER_OP(aten_size_int));
}

// Sets *n to a number if `value` is a number or a constant tensor of one element.
static taper_status leaf(taper_peephole *p, taper_node *before, taper_ir_value *value, number *n)
{
    const taper_node *constant = taper_value_constant(value);
    if (constant == NULL || constant->constant.tag != TAPER_TENSOR) {
        if (taper_known_type_kind(value) == TAPER_TYPE_INT) {
            *n = (number){value, is_natural(value)};
        }
        return TAPER_OK;
    }
    const taper_tensor *tensor = constant->constant.as.tensor;
    if (tensor->rank != 0 || tensor->dtype != TAPER_I64) {
        return TAPER_OK;
    }
    const int64_t whole = *(const int64_t *)taper_tensor_data(tensor);
    n->natural = whole >= 0;
    return taper_constant_before(before, taper_val_int(whole), &n->value, p->compilation->error);
}

static bool is_remainder(const taper_node *node)
{
    return taper_node_calls(node, TAPER_OP(aten_remainder_Scalar)) ||
           taper_node_calls(node, TAPER_OP(aten_remainder_Tensor));
}

// Returns the operator on ints that gives the same result as `node`, or NULL if there is none. natural: neither operand
// is negative, and the second one is not zero. positive: the second operand is a constant above zero.
static const taper_op *int_operator(const taper_node *node, bool natural, bool positive)
{
    const taper_val *mode =
        taper_node_calls(node, TAPER_OP(aten_div_Tensor_mode)) || taper_node_calls(node, TAPER_OP(aten_div_Scalar_mode))
            ? taper_node_constant_in(node, 2)
            : NULL;
    const bool rounds = mode != NULL && (taper_val_string_is(*mode, "trunc") || taper_val_string_is(*mode, "floor"));
    if (taper_node_calls(node, TAPER_OP(aten_mul_Tensor)) || taper_node_calls(node, TAPER_OP(aten_mul_Scalar))) {
        return TAPER_OP(aten_mul_int);
    }
    if (taper_node_calls(node, TAPER_OP(aten_floor_divide)) || rounds) {
        return natural ? TAPER_OP(aten_floordiv_int) : NULL;
    }
    if (is_remainder(node)) {
        return positive ? TAPER_OP(aten_remainder_int) : NULL;
    }
    double alpha;
    const bool sum =
        taper_node_calls(node, TAPER_OP(aten_add_Tensor)) || taper_node_calls(node, TAPER_OP(aten_add_Scalar));
    const bool difference = taper_node_calls(node, TAPER_OP(aten_sub_Tensor)) ||
                            taper_node_calls(node, TAPER_OP(aten_sub_Scalar)) ||
                            taper_node_calls(node, TAPER_OP(aten_rsub_Scalar));
    if ((!sum && !difference) || !taper_node_constant_is_number(node, 2, &alpha) || alpha != 1) {
        return NULL;
    }
    return sum ? TAPER_OP(aten_add_int) : TAPER_OP(aten_sub_int);
}

static taper_status pair(taper_peephole *p, taper_node *before, const taper_node *node, int depth, number *n)
{
    number parts[2] = {{NULL, false}, {NULL, false}};
    if (node->input_count < 2 || int_operator(node, true, true) == NULL) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(number_of(p, before, taper_node_in(node, i), depth + 1, &parts[i]));
        if (parts[i].value == NULL) {
            return TAPER_OK;
        }
    }
    const bool natural = parts[0].natural && parts[1].natural;
    const taper_node *divisor = taper_value_constant(parts[1].value);
    const bool zero = divisor != NULL && divisor->constant.as.i == 0;
    const taper_op *op = int_operator(node, natural && !zero, divisor != NULL && parts[1].natural && !zero);
    taper_node *made = NULL;
    if (op != NULL) {
        TAPER_TRY(taper_op_before(p->compilation, before, op, &made));
    }
    if (made == NULL) {
        return TAPER_OK;
    }
    const bool swapped = taper_node_calls(node, TAPER_OP(aten_rsub_Scalar));
    taper_node_set_input(made, 0, parts[swapped ? 1 : 0].value);
    taper_node_set_input(made, 1, parts[swapped ? 0 : 1].value);
    made->outputs[0].type = &taper_type_int;
    *n = (number){&made->outputs[0], is_remainder(node) || (natural && op != TAPER_OP(aten_sub_int))};
    return TAPER_OK;
}

// Computes the tensor as an integer. n->value is NULL if this is impossible; nodes that were already inserted then
// remain unused.
static taper_status number_of(taper_peephole *p, taper_node *before, taper_ir_value *tensor, int depth, number *n)
{
    const taper_node *node = tensor->node;
    bool written = true;
    *n = (number){NULL, false};
    if (taper_value_constant(tensor) != NULL || taper_known_type_kind(tensor) == TAPER_TYPE_INT) {
        return leaf(p, before, tensor, n);
    }
    if (node == NULL || node->kind != TAPER_NODE_OP || depth == MOST_DEPTH) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_peephole_written(p, tensor, &written));
    if (written) {
        return TAPER_OK;
    }
    return taper_node_calls(node, TAPER_OP(prim_NumToTensor_Scalar)) ? leaf(p, before, taper_node_in(node, 0), n)
                                                                     : pair(p, before, node, depth, n);
}

taper_status taper_peephole_numbers(taper_peephole *p, taper_node *node, bool *done)
{
    number n;
    if (!taper_node_calls(node, TAPER_OP(aten_Int_Tensor)) && !taper_node_calls(node, TAPER_OP(aten_ScalarImplicit)) &&
        !taper_node_calls(node, TAPER_OP(aten_IntImplicit))) {
        return TAPER_OK;
    }
    TAPER_TRY(number_of(p, node, taper_node_in(node, 0), 0, &n));
    if (n.value == NULL) {
        return TAPER_OK;
    }
    if (n.value->node != NULL && n.value->node->next == node && n.value->uses == NULL) {
        n.value->id = node->outputs[0].id; // n.value replaces this output, so it gets the output's number
    }
    return taper_peephole_replace(node, n.value, done);
}
