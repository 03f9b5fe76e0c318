// SPDX-License-Identifier: BSD-2-Clause
// Statements as nodes.
#include "runtime/draft_nnapi_nodes.h"

static taper_status append(taper_nnapi_lowering *l, taper_node *node, taper_ir_value **made)
{
    node->debug = l->emit.debug;
    node->instruction = l->emit.instruction;
    taper_node_append(l->emit.block, node);
    if (made != NULL) {
        *made = &node->outputs[0];
    }
    return TAPER_OK;
}

taper_status taper_script_get(taper_nnapi_lowering *l, taper_ir_value *object, int64_t slot, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->emit.graph, TAPER_NODE_GET_ATTR, 1, 1, &node, l->emit.error));
    node->number = slot;
    TAPER_TRY(append(l, node, made));
    taper_node_set_input(node, 0, object);
    return TAPER_OK;
}

taper_status taper_script_set(taper_nnapi_lowering *l, taper_ir_value *object, int64_t slot, taper_ir_value *value)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->emit.graph, TAPER_NODE_SET_ATTR, 2, 0, &node, l->emit.error));
    node->number = slot;
    TAPER_TRY(append(l, node, NULL));
    taper_node_set_input(node, 0, object);
    taper_node_set_input(node, 1, value);
    return TAPER_OK;
}

taper_status taper_script_call(taper_nnapi_lowering *l, const char *method, taper_ir_value *const *args, size_t count)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->emit.graph, TAPER_NODE_CALL, count, 1, &node, l->emit.error));
    node->name = method;
    TAPER_TRY(append(l, node, NULL));
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(node, i, args[i]);
    }
    return TAPER_OK;
}

taper_status taper_script_if(taper_nnapi_lowering *l, taper_ir_value *condition, taper_block **outer)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->emit.graph, TAPER_NODE_IF, 1, 0, &node, l->emit.error));
    TAPER_TRY(append(l, node, NULL));
    taper_node_set_input(node, 0, condition);
    node->block_count = 2;
    for (size_t b = 0; b < 2; b++) {
        TAPER_TRY(taper_block_create(l->emit.graph, node, 0, &node->blocks[b], l->emit.error));
    }
    *outer = l->emit.block;
    l->emit.block = node->blocks[0];
    return TAPER_OK;
}

taper_status taper_script_for(taper_nnapi_lowering *l, taper_ir_value *list, taper_ir_value **index,
                              taper_block **outer)
{
    taper_node *node;
    taper_ir_value *trips, *always;
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_len_t), &trips, list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_bool(true), &always));
    TAPER_TRY(taper_node_create(l->emit.graph, TAPER_NODE_LOOP, 2, 0, &node, l->emit.error));
    TAPER_TRY(append(l, node, NULL));
    taper_node_set_input(node, 0, trips);
    taper_node_set_input(node, 1, always);
    node->block_count = 1;
    TAPER_TRY(taper_block_create(l->emit.graph, node, 1, &node->blocks[0], l->emit.error));
    TAPER_TRY(taper_block_set_results(node->blocks[0], (taper_ir_value *const[]){always}, 1, l->emit.error));
    *index = &node->blocks[0]->params[0];
    *outer = l->emit.block;
    l->emit.block = node->blocks[0];
    return TAPER_OK;
}

taper_status taper_script_object(taper_nnapi_lowering *l, taper_types *types, const char *name, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->emit.graph, TAPER_NODE_OBJECT, 0, 1, &node, l->emit.error));
    TAPER_TRY(taper_type_make(types, TAPER_TYPE_CLASS, name, NULL, NULL, 0, &node->type, l->emit.error));
    return append(l, node, made);
}
