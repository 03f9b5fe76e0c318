// SPDX-License-Identifier: BSD-2-Clause
// Copies the tensors that a model returns from the device back to the CPU, as PyTorch 1.8's pass does, if the model was
// prepared for a device that has an operator for this copy. The operator refuses tensors of the CPU. Therefore a graph
// without layers on the device is not changed, nor is a result that no operator made.
#include "compiler/pass.h"

static bool has_layers(const taper_block *block, taper_op_packer packer)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (taper_node_has(node, TAPER_OP_PACKED) && TAPER_FIELD(taper_node_facts(node), PACKER) == packer) {
            return true;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            if (has_layers(node->blocks[b], packer)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_made_tensor(const taper_ir_value *value, const taper_op *fetches)
{
    const taper_node *node = value->node;
    if (node == NULL || taper_node_calls(node, fetches)) {
        return false;
    }
    const taper_type *type = value->type;
    if (node->kind == TAPER_NODE_OP && value->index < node->schema->ret_count) {
        type = node->schema->rets[value->index].type;
    } else if (node->kind != TAPER_NODE_IF) {
        return false;
    }
    return type != NULL && type->kind == TAPER_TYPE_TENSOR;
}

// Inserts a copy of `value` to the CPU before the node `before`. *made is the copy, or `value` itself if this build
// lacks the operator.
static taper_status copy(taper_compilation *compilation, taper_node *before, taper_ir_value *value,
                         taper_ir_value **made)
{
    taper_node *node;
    *made = value;
    TAPER_TRY(taper_op_before(compilation, before, compilation->preparer->fetches, &node));
    if (node != NULL) {
        taper_node_set_input(node, 0, value);
        *made = &node->outputs[0];
    }
    return TAPER_OK;
}

taper_status taper_pass_copy_to_host(taper_compilation *compilation, taper_graph *graph)
{
    const char *dot = strrchr(graph->name, '.');
    taper_block *body = graph->body;
    const taper_preparer *to = compilation->preparer;
    if (to == NULL || to->fetches == NULL || !taper_is_of_root(compilation, graph) || dot == NULL ||
        strcmp(dot, ".forward") != 0 || body->result_count != 1 || !has_layers(body, to->packer)) {
        return TAPER_OK;
    }
    taper_ir_value *result = body->results[0].value, *made;
    if (is_made_tensor(result, to->fetches)) {
        TAPER_TRY(copy(compilation, body->last, result, &made));
        if (made != result) {
            taper_node_move(made->node, body);
        }
        return taper_block_set_results(body, &made, 1, compilation->error);
    }
    taper_node *tuple = result->node;
    if (tuple == NULL || tuple->kind != TAPER_NODE_TUPLE || tuple->block != body ||
        !taper_value_used_once(&tuple->outputs[0])) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < tuple->input_count; i++) {
        if (is_made_tensor(taper_node_in(tuple, i), to->fetches)) {
            TAPER_TRY(copy(compilation, tuple, taper_node_in(tuple, i), &made));
            taper_node_set_input(tuple, i, made);
        }
    }
    return TAPER_OK;
}
