// SPDX-License-Identifier: BSD-2-Clause
// Answers questions about values and nodes for differentiate_paths.c and the other files differentiate_*.c.
#include "compiler/differentiate.h"
#include "ops/list/op_table.h"

bool taper_ahead_returns_argument(const taper_node *node)
{
    return node != NULL && (taper_node_calls(node, TAPER_OP(aten_requires_grad_)) ||
                            taper_node_calls(node, TAPER_OP(prim_unchecked_cast)) ||
                            taper_node_calls(node, TAPER_OP(prim_unchecked_unwrap_optional)) ||
                            taper_node_calls(node, TAPER_OP(aten__unwrap_optional)));
}

taper_ir_value *taper_ahead_root(taper_ir_value *value)
{
    while (taper_ahead_returns_argument(value->node)) {
        value = taper_node_in(value->node, 0);
    }
    return value;
}

bool taper_ahead_may_be_argument(const taper_node *node)
{
    return node->kind == TAPER_NODE_OP && node->output_count != 0 && !taper_node_has(node, TAPER_OP_NEW_VIEW) &&
           !taper_value_is_plain(&node->outputs[0]) && !taper_value_is_fresh(&node->outputs[0]);
}

const taper_ir_value *taper_ahead_result_list(const taper_node *node)
{
    const bool list = node->kind == TAPER_NODE_OP && node->output_count == 1 && node->schema->ret_count == 1 &&
                      node->schema->rets[0].type->kind == TAPER_TYPE_LIST;
    return list ? &node->outputs[0] : NULL;
}

bool taper_ahead_any_output(const taper_ahead *a, const taper_node *node, unsigned fact)
{
    for (size_t i = 0; i < node->output_count; i++) {
        if (taper_ahead_has(a, &node->outputs[i], fact)) {
            return true;
        }
    }
    return false;
}

uint32_t taper_ahead_wanted(const taper_ahead *a, const taper_node *node, unsigned fact)
{
    const taper_gradient *const gradient = taper_gradient_find(node->op);
    uint32_t bits = 0;
    for (size_t i = 0; gradient != NULL && i < node->input_count && i < 32; i++) {
        bits |= taper_ahead_has(a, taper_ahead_root(taper_node_in(node, i)), fact) ? UINT32_C(1) << i : 0;
    }
    return gradient != NULL ? bits & ~taper_gradient_none(gradient) : 0;
}

bool taper_ahead_read_flag(const taper_node *node, size_t index, bool otherwise, bool *flag)
{
    const taper_val *const constant = taper_node_constant_in(node, index);
    *flag = constant != NULL && constant->tag == TAPER_BOOLEAN ? constant->as.b : otherwise;
    return constant != NULL && (constant->tag == TAPER_BOOLEAN || constant->tag == TAPER_NONE);
}

bool taper_ahead_read_flags(const taper_node *ask, bool *creates, bool *keeps)
{
    return taper_ahead_read_flag(ask, 4, false, creates) && taper_ahead_read_flag(ask, 3, *creates, keeps);
}
