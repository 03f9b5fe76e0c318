// SPDX-License-Identifier: BSD-2-Clause
// Helpers for the parts of the pass peephole: they check if a value is written to, and replace a node by a value or a
// constant.
#include "compiler/peephole.h"

taper_status taper_peephole_written(taper_peephole *p, const taper_ir_value *value, bool *written)
{
    if (p->aliases == NULL) { // computed at the first request, because few graphs need aliases
        TAPER_TRY(taper_aliases_create(p->graph, &p->aliases, p->compilation->error));
    }
    *written = taper_aliases_written(p->aliases, value);
    return TAPER_OK;
}

taper_status taper_peephole_replace(taper_node *node, taper_ir_value *value, bool *done)
{
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    *done = true;
    return TAPER_OK;
}

taper_status taper_peephole_constant(taper_peephole *p, taper_node *node, taper_val constant, bool *done)
{
    taper_ir_value *value;
    TAPER_TRY(taper_constant_before(node, constant, &value, p->compilation->error));
    return taper_peephole_replace(node, value, done);
}

taper_node *taper_peephole_maker(const taper_node *node, size_t index, const taper_op *op)
{
    taper_node *maker = index < node->input_count ? taper_node_in(node, index)->node : NULL;
    return maker != NULL && taper_node_calls(maker, op) ? maker : NULL;
}
