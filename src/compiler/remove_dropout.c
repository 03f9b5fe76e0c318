// SPDX-License-Identifier: BSD-2-Clause
// Removes dropout(x, p, train=False), which returns x itself, and dropout(x, 0, train).
#include "compiler/pass.h"

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    (void)compilation;
    const bool dropout = TAPER_FIELD(taper_node_facts(node), LAYER) == TAPER_LAYER_DROPOUT;
    const taper_val *train = dropout && node->schema->out_count == 0 ? taper_node_constant_in(node, 2) : NULL;
    double chance;
    const bool none =
        dropout && node->schema->out_count == 0 && taper_node_constant_is_number(node, 1, &chance) && chance == 0;
    if (none || (train != NULL && train->tag == TAPER_BOOLEAN && !train->as.b)) {
        taper_value_replace_uses(&node->outputs[0], taper_node_in(node, 0));
        taper_node_remove(node);
    }
    return TAPER_OK;
}

taper_status taper_pass_remove_dropout(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
