// SPDX-License-Identifier: BSD-2-Clause
// Removes pure nodes whose results are unused, from the end backwards, so that one sweep removes a whole chain.
#include "compiler/pass.h"

static bool is_unused(const taper_node *node)
{
    for (size_t i = 0; i < node->output_count; i++) {
        if (node->outputs[i].uses != NULL) {
            return false;
        }
    }
    return true;
}

static void sweep(taper_block *block)
{
    for (taper_node *node = block->last, *previous; node != NULL; node = previous) {
        previous = node->previous;
        for (size_t b = 0; b < node->block_count; b++) {
            sweep(node->blocks[b]);
        }
        if (is_unused(node) && taper_node_is_pure(node)) {
            taper_node_remove(node);
        }
    }
}

taper_status taper_pass_dead_code(taper_compilation *compilation, taper_graph *graph)
{
    (void)compilation;
    sweep(graph->body);
    return TAPER_OK;
}
