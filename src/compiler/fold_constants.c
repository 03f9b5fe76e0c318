// SPDX-License-Identifier: BSD-2-Clause
// Computes pure operators on constant numbers, strings, frozen lists, and dicts that are never written to, if the
// results are numbers, strings or None. Replaces an If with a constant condition by its branch. Operators on tensors
// are not folded here, because this would copy weights.
#include "compiler/pass.h"

static bool foldable_input(const taper_compilation *compilation, const taper_node *node, size_t index)
{
    const taper_node *constant = taper_value_constant(taper_node_in(node, index));
    if (constant == NULL) {
        return false;
    }
    const taper_val value = constant->constant;
    if (!taper_val_is_object(value) || value.tag == TAPER_STRING) {
        return true;
    }
    if (value.tag == TAPER_LIST && constant->own.constant.frozen) {
        return true;
    }
    if (value.tag == TAPER_DICT || value.tag == TAPER_LIST) {
        return compilation->written != NULL && !taper_is_written(compilation, value);
    }
    // Comparing a value of any kind with None has a constant answer.
    return taper_node_calls(node, TAPER_OP(aten___is__)) || taper_node_calls(node, TAPER_OP(aten___isnot__));
}

taper_status taper_fold_node(taper_compilation *compilation, taper_node *node, bool *done)
{
    if (node->kind != TAPER_NODE_OP || !taper_node_is_pure(node) || node->input_count > TAPER_FOLD_INPUTS) {
        return TAPER_OK;
    }
#ifdef TAPER_WITH_GRADIENTS
    if (compilation->takes_gradients && taper_node_calls(node, TAPER_OP(aten_is_grad_enabled))) {
        return TAPER_OK; // the result depends on operators that ran before this one
    }
#endif
    taper_val args[TAPER_FOLD_INPUTS], result;
    for (size_t i = 0; i < node->input_count; i++) {
        if (!foldable_input(compilation, node, i)) {
            return TAPER_OK;
        }
        args[i] = *taper_node_constant_in(node, i);
    }
    if (!taper_fold(compilation->registry, compilation->module->heap, node->op, node->schema, args, node->input_count,
                    &result)) {
        return TAPER_OK;
    }
    taper_ir_value *value;
    TAPER_TRY(taper_constant_before(node, result, &value, compilation->error));
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    *done = true;
    return TAPER_OK;
}

bool taper_take_branch(taper_node *node)
{
    const taper_val *condition = node->kind == TAPER_NODE_IF ? taper_node_constant_in(node, 0) : NULL;
    if (condition == NULL || condition->tag != TAPER_BOOLEAN) {
        return false;
    }
    taper_block *taken = node->blocks[condition->as.b ? 0 : 1];
    for (size_t i = 0; i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], taken->results[i].value);
    }
    taper_block_inline_before(taken, node);
    taper_node_remove(node);
    return true;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    bool done = false;
    (void)taper_take_branch(node);
    return taper_fold_node(compilation, node, &done);
}

taper_status taper_pass_fold_constants(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
