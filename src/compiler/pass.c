// SPDX-License-Identifier: BSD-2-Clause
#include "compiler/pass.h"

bool taper_node_constant_is_number(const taper_node *node, size_t index, double *number)
{
    const taper_val *value = taper_node_constant_in(node, index);
    if (value == NULL || (value->tag != TAPER_INT && value->tag != TAPER_DOUBLE && value->tag != TAPER_BOOLEAN)) {
        return false;
    }
    *number = value->tag == TAPER_DOUBLE ? value->as.f : (double)value->as.i;
    return true;
}

taper_status taper_constant_before(taper_node *before, taper_val value, taper_ir_value **made, taper_error *error)
{
    taper_node *node;
    TAPER_TRY(taper_node_constant(before->block->graph, value, &node, error));
    taper_node_insert_before(node, before);
    *made = &node->outputs[0];
    return TAPER_OK;
}

taper_status taper_visit_nodes(taper_compilation *compilation, taper_block *block,
                               taper_status (*visit)(taper_compilation *compilation, taper_node *node))
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(taper_visit_nodes(compilation, node->blocks[b], visit));
        }
        TAPER_TRY(visit(compilation, node));
    }
    return TAPER_OK;
}
