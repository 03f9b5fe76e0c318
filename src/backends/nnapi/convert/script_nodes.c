// SPDX-License-Identifier: BSD-2-Clause
// Makes nodes for statements of a script.
#include "backends/nnapi/convert/script_nodes.h"

taper_status taper_script_get(taper_emitter *e, taper_ir_value *object, int64_t slot, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_emit_node(e, TAPER_NODE_GET_ATTR, 1, 1, &node));
    node->own.slot = slot;
    *made = &node->outputs[0];
    taper_node_set_input(node, 0, object);
    return TAPER_OK;
}

taper_status taper_script_set(taper_emitter *e, taper_ir_value *object, int64_t slot, taper_ir_value *value)
{
    taper_node *node;
    TAPER_TRY(taper_emit_node(e, TAPER_NODE_SET_ATTR, 2, 0, &node));
    node->own.slot = slot;
    taper_node_set_input(node, 0, object);
    taper_node_set_input(node, 1, value);
    return TAPER_OK;
}

taper_status taper_script_call(taper_emitter *e, const char *method, taper_ir_value *const *args, size_t count)
{
    taper_node *node;
    TAPER_TRY(taper_emit_node(e, TAPER_NODE_CALL, count, 1, &node));
    node->name = method;
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(node, i, args[i]);
    }
    return TAPER_OK;
}

taper_status taper_script_if(taper_emitter *e, taper_ir_value *condition, taper_block **outer)
{
    taper_node *node;
    TAPER_TRY(taper_emit_node(e, TAPER_NODE_IF, 1, 0, &node));
    taper_node_set_input(node, 0, condition);
    node->block_count = 2;
    for (size_t b = 0; b < 2; b++) {
        TAPER_TRY(taper_block_create(e->graph, node, 0, &node->blocks[b], e->error));
    }
    *outer = e->block;
    e->block = node->blocks[0];
    return TAPER_OK;
}

taper_status taper_script_for(taper_emitter *e, taper_ir_value *list, taper_ir_value **index, taper_block **outer)
{
    taper_node *node;
    taper_ir_value *trips, *always;
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_len_t), &trips, list));
    TAPER_TRY(taper_emit_constant(e, taper_val_bool(true), &always));
    TAPER_TRY(taper_emit_node(e, TAPER_NODE_LOOP, 2, 0, &node));
    taper_node_set_input(node, 0, trips);
    taper_node_set_input(node, 1, always);
    node->block_count = 1;
    TAPER_TRY(taper_block_create(e->graph, node, 1, &node->blocks[0], e->error));
    TAPER_TRY(taper_block_set_results(node->blocks[0], (taper_ir_value *const[]){always}, 1, e->error));
    *index = &node->blocks[0]->params[0];
    *outer = e->block;
    e->block = node->blocks[0];
    return TAPER_OK;
}

taper_status taper_script_object(taper_emitter *e, taper_types *types, const char *name, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_emit_node(e, TAPER_NODE_OBJECT, 0, 1, &node));
    TAPER_TRY(taper_type_make(types, TAPER_TYPE_CLASS, name, NULL, NULL, 0, &node->type, e->error));
    *made = &node->outputs[0];
    return TAPER_OK;
}
