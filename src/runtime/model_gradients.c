// SPDX-License-Identifier: BSD-2-Clause
// Finds the models whose methods ask for gradients.
#include "runtime/model.h"

static bool block_asks(const taper_block *block);

static bool node_asks(const taper_node *node)
{
    if (taper_node_calls(node, TAPER_OP(aten_grad)) || taper_node_calls_any(node, TAPER_OP(aten_backward))) {
        return true;
    }
    for (size_t i = 0; i < node->block_count; i++) {
        if (block_asks(node->blocks[i])) {
            return true;
        }
    }
    return false;
}

static bool block_asks(const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node_asks(node)) {
            return true;
        }
    }
    return false;
}

// In a model that asks for gradients, `is_grad_enabled` depends on what ran before. The call is therefore replaced by
// another operator, which passes do not move.
static void mark_modes(const taper_schema *schema, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        if (taper_node_calls(node, TAPER_OP(aten_is_grad_enabled))) {
            node->op = TAPER_OP(taper_is_grad_enabled);
            node->schema = schema;
            node->op_name = schema->text;
        }
        for (size_t i = 0; i < node->block_count; i++) {
            mark_modes(schema, node->blocks[i]);
        }
    }
}

void taper_model_find_gradients(taper_model *model)
{
    for (size_t i = 0; i < model->function_count && !model->takes_gradients; i++) {
        const taper_graph *const graph = model->functions[i].graph;
        model->takes_gradients = graph != NULL && block_asks(graph->body);
    }
}

taper_status taper_model_mark_gradient_modes(taper_model *model, taper_error *error)
{
    const taper_op *const asks = TAPER_OP(taper_is_grad_enabled);
    const taper_schema *schema;
    if (!model->takes_gradients || asks == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_registry_schema(model->context->registry, asks, &schema, error));
    for (size_t i = 0; i < model->function_count; i++) {
        if (model->functions[i].graph != NULL) {
            mark_modes(schema, model->functions[i].graph->body);
        }
    }
    return TAPER_OK;
}
