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

void taper_model_find_gradients(taper_model *model)
{
    for (size_t i = 0; i < model->function_count && !model->takes_gradients; i++) {
        const taper_graph *const graph = model->functions[i].graph;
        model->takes_gradients = graph != NULL && block_asks(graph->body);
    }
}
