// SPDX-License-Identifier: BSD-2-Clause
// dropout(x, p, train=False) returns x itself.
#include "compiler/pass.h"

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    (void)compilation;
    static const char *const names[] = {
        "aten::dropout",       "aten::dropout_",       "aten::feature_dropout",       "aten::feature_dropout_",
        "aten::alpha_dropout", "aten::alpha_dropout_", "aten::feature_alpha_dropout", "aten::feature_alpha_dropout_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const taper_val *train = taper_node_is(node, names[i]) ? taper_node_constant_in(node, 2) : NULL;
        if (train != NULL && train->tag == TAPER_BOOLEAN && !train->as.b) {
            taper_value_replace_uses(&node->outputs[0], taper_node_in(node, 0));
            taper_node_remove(node);
            return TAPER_OK;
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_remove_dropout(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
