// SPDX-License-Identifier: BSD-2-Clause
// Computes pure operators on constant numbers, strings and frozen lists whose results are numbers, strings or None;
// takes the branch of an if whose condition is constant. Tensors are left to the run: their folding would copy weights.
#include "compiler/pass.h"

enum {
    MOST_INPUTS = 16,
    // Strings can be made long from little ("a".ljust(1000000000)); those are left to the run, which has its budgets.
    LONGEST_STRING = 256,
    LARGEST_WIDTH = 1024
};

// Whether the result is small for sure: neither of a kind that is not kept anyway, nor a long string.
static bool small_result(const taper_node *node)
{
    if (node->schema == NULL || node->schema->ret_count == 0) {
        return true;
    }
    switch ((taper_type_kind)node->schema->rets[0].type->kind) {
    case TAPER_TYPE_TENSOR:
    case TAPER_TYPE_LIST:
    case TAPER_TYPE_DICT:
    case TAPER_TYPE_TUPLE:
        return false;
    case TAPER_TYPE_STRING:
        break;
    default:
        return true;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_val *value = taper_node_constant_in(node, i);
        if (value == NULL || value->tag == TAPER_LIST || (value->tag == TAPER_INT && value->as.i > LARGEST_WIDTH) ||
            (value->tag == TAPER_STRING && value->as.string->length > LONGEST_STRING)) {
            return false;
        }
    }
    return true;
}

static bool foldable_input(const taper_node *node, size_t index)
{
    const taper_node *constant = taper_value_constant(taper_node_in(node, index));
    if (constant == NULL) {
        return false;
    }
    const taper_val value = constant->constant;
    if (!taper_val_is_object(value) || value.tag == TAPER_STRING) {
        return true;
    }
    if (value.tag == TAPER_LIST) {
        return constant->number == TAPER_CONSTANT_FROZEN;
    }
    // Whether a thing is None can be said of anything.
    return taper_node_is(node, "aten::__is__") || taper_node_is(node, "aten::__isnot__");
}

static taper_status fold_op(taper_compilation *compilation, taper_node *node)
{
    if (!taper_node_is_pure(node) || node->output_count != 1 || node->input_count == 0 ||
        node->input_count > MOST_INPUTS || !small_result(node)) {
        return TAPER_OK;
    }
    taper_val args[MOST_INPUTS];
    for (size_t i = 0; i < node->input_count; i++) {
        if (!foldable_input(node, i)) {
            return TAPER_OK;
        }
        args[i] = *taper_node_constant_in(node, i);
    }
    taper_run run = {.heap = taper_registry_heap(compilation->registry), .registry = compilation->registry};
    taper_val result;
    if (taper_call_op(&run, node->op, args, node->input_count, &result, 1) != TAPER_OK) {
        return TAPER_OK; // the run will say what is wrong
    }
    if (taper_val_is_object(result) && result.tag != TAPER_STRING) {
        taper_val_release(result);
        return TAPER_OK;
    }
    taper_ir_value *value;
    TAPER_TRY(taper_constant_before(node, result, &value, compilation->error));
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    return TAPER_OK;
}

static taper_status fold_if(taper_node *node)
{
    const taper_val *condition = taper_node_constant_in(node, 0);
    if (condition == NULL || condition->tag != TAPER_BOOLEAN) {
        return TAPER_OK;
    }
    taper_block *taken = node->blocks[condition->as.b ? 0 : 1];
    for (size_t i = 0; i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], taken->results[i].value);
    }
    taper_block_inline_before(taken, node);
    taper_node_remove(node);
    return TAPER_OK;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    switch (node->kind) {
    case TAPER_NODE_OP:
        return fold_op(compilation, node);
    case TAPER_NODE_IF:
        return fold_if(node);
    default:
        return TAPER_OK;
    }
}

taper_status taper_pass_fold_constants(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
