// SPDX-License-Identifier: BSD-2-Clause
// [2, 2] built anew in every run becomes one constant, when its items are constant numbers, strings or None and every
// user only reads it: an operator that takes it where its schema says int[], float[], bool[] or str[] by a fixed type
// (t[] and friends may hand the list on or change it).
#include "compiler/pass.h"

static bool reads_only(const taper_value_use *use)
{
    const taper_node *user = use->user;
    if (user == NULL || user->kind != TAPER_NODE_OP || use->index >= user->schema->arg_count ||
        !taper_node_is_pure(user)) {
        return false;
    }
    const taper_type *type = user->schema->args[use->index].type;
    if (type->kind == TAPER_TYPE_OPTIONAL) {
        type = type->items[0];
    }
    if (type->kind != TAPER_TYPE_LIST) {
        return false;
    }
    const uint8_t element = type->items[0]->kind;
    const bool fixed = element == TAPER_TYPE_INT || element == TAPER_TYPE_FLOAT || element == TAPER_TYPE_BOOL ||
                       element == TAPER_TYPE_STRING;
    const bool returns_list = user->schema->ret_count != 0 && user->schema->rets[0].type->kind == TAPER_TYPE_LIST;
    if (fixed) {
        return !returns_list;
    }
    // A type variable: fine where only a number or a bool comes out.
    return element == TAPER_TYPE_VARIABLE && user->schema->ret_count == 1 &&
           (user->schema->rets[0].type->kind == TAPER_TYPE_INT || user->schema->rets[0].type->kind == TAPER_TYPE_BOOL);
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    if (node->kind != TAPER_NODE_LIST || node->outputs[0].uses == NULL) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_val *item = taper_node_constant_in(node, i);
        if (item == NULL || (taper_val_is_object(*item) && item->tag != TAPER_STRING)) {
            return TAPER_OK;
        }
    }
    for (const taper_value_use *use = node->outputs[0].uses; use != NULL; use = use->next) {
        if (!reads_only(use)) {
            return TAPER_OK;
        }
    }
    const taper_type *type = node->type;
    taper_heap *heap = taper_registry_heap(compilation->registry);
    taper_list *list = taper_list_new(heap, NULL, node->input_count);
    if (list == NULL) {
        return taper_fail_memory(compilation->error);
    }
    if (type != NULL && type->kind == TAPER_TYPE_LIST && type->items[0]->count == 0 && type->items[0]->name == NULL) {
        list->element = type->items[0]->kind == TAPER_TYPE_INT      ? &taper_type_int
                        : type->items[0]->kind == TAPER_TYPE_FLOAT  ? &taper_type_float
                        : type->items[0]->kind == TAPER_TYPE_BOOL   ? &taper_type_bool
                        : type->items[0]->kind == TAPER_TYPE_STRING ? &taper_type_string
                                                                    : NULL;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        list->items[i] = taper_val_retain(*taper_node_constant_in(node, i));
    }
    list->count = node->input_count;
    taper_ir_value *value;
    TAPER_TRY(taper_constant_before(node, TAPER_VAL(list), &value, compilation->error));
    value->node->number = TAPER_CONSTANT_FROZEN;
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    return TAPER_OK;
}

taper_status taper_pass_constant_lists(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
