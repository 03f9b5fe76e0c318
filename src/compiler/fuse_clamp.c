// SPDX-License-Identifier: BSD-2-Clause
// Moves the bounds of relu, relu6, hardtanh and clamp after a layer with packed weights into the state of the packed
// object. The bounds are the last two items of the state in every class that supports bounds.
#include <math.h>

#include "compiler/pass.h"

// Returns true if packed linear layers of this kind support bounds.
static bool bounds_linear(taper_op_packer packer)
{
    const taper_preparer *whose = taper_preparers;
    while (whose->name != NULL && whose->packer != packer) {
        whose++;
    }
    return whose->name == NULL || !whose->bare_linear;
}

static bool is_packed_run(const taper_node *node)
{
    const uint64_t facts = taper_node_facts(node);
    const unsigned layer = TAPER_FIELD(facts, LAYER);
    return (facts & TAPER_OP_PACKED) != 0 &&
           (layer == TAPER_LAYER_CONV2 || layer == TAPER_LAYER_CONV_TRANSPOSED2 ||
            (layer == TAPER_LAYER_LINEAR && bounds_linear(TAPER_FIELD(facts, PACKER))));
}

// Finds the bounds of an activation; a missing bound is None. PyTorch's packed objects take floats, and refuse a
// minimum that is not less than the maximum.
static bool bounds_of(const taper_node *node, taper_val bounds[2])
{
    double limits[2];
    if (!taper_node_bounds(node, limits) || !((float)limits[0] < (float)limits[1])) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        bounds[i] = isinf(limits[i]) ? taper_val_none() : taper_val_double(limits[i]);
    }
    return bounds[0].tag != TAPER_NONE || bounds[1].tag != TAPER_NONE;
}

// Makes a copy of the object with these bounds. *made is None if the object already has bounds.
static taper_status with_bounds(taper_compilation *compilation, const taper_object *object, const taper_val bounds[2],
                                taper_val *made)
{
    taper_heap *heap = compilation->module->heap;
    const taper_val state = object->count != 0 ? object->slots[0] : taper_val_none();
    const size_t count = state.tag == TAPER_TUPLE  ? state.as.tuple->count
                         : state.tag == TAPER_LIST ? state.as.list->count
                                                   : 0;
    *made = taper_val_none();
    if (count < 4) {
        return TAPER_OK;
    }
    const taper_val *items = state.tag == TAPER_TUPLE ? state.as.tuple->items : state.as.list->items;
    if (items[count - 1].tag != TAPER_NONE || items[count - 2].tag != TAPER_NONE) {
        return TAPER_OK;
    }
    taper_val copy = taper_val_none();
    taper_val *to = NULL;
    if (state.tag == TAPER_TUPLE) {
        taper_tuple *tuple = taper_tuple_new(heap, NULL, count);
        if (tuple != NULL) {
            copy = TAPER_VAL(tuple);
            to = tuple->items;
        }
    } else {
        taper_list *list = taper_list_new(heap, state.as.list->element, count);
        if (list != NULL) {
            copy = TAPER_VAL(list);
            to = list->items;
            list->count = count;
        }
    }
    taper_object *result = to != NULL ? taper_object_new(heap, object->klass, 1) : NULL;
    if (result == NULL) {
        if (copy.tag == TAPER_LIST) {
            copy.as.list->count = 0; // the items are set below
        }
        taper_val_release(copy);
        return taper_fail_memory(compilation->error);
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = i + 2 < count ? taper_val_retain(items[i]) : bounds[i + 2 - count];
    }
    result->slots[0] = copy;
    *made = TAPER_VAL(result);
    return TAPER_OK;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    taper_val bounds[2], made;
    taper_ir_value *packed;
    taper_node *run = node->kind == TAPER_NODE_OP && node->input_count != 0 ? taper_node_in(node, 0)->node : NULL;
    if (run == NULL || !is_packed_run(run) || run->block != node->block || !taper_value_used_once(&run->outputs[0]) ||
        !bounds_of(node, bounds)) {
        return TAPER_OK;
    }
    const taper_val *object = taper_node_constant_in(run, 1);
    if (object == NULL || object->tag != TAPER_OBJECT) {
        return TAPER_OK;
    }
    TAPER_TRY(with_bounds(compilation, object->as.object, bounds, &made));
    if (made.tag == TAPER_NONE) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_constant_before(run, made, &packed, compilation->error));
    taper_node_set_input(run, 1, packed);
    taper_value_replace_uses(&node->outputs[0], &run->outputs[0]);
    taper_node_remove(node);
    return TAPER_OK;
}

taper_status taper_pass_fuse_clamp(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
