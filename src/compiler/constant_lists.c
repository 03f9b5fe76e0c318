// SPDX-License-Identifier: BSD-2-Clause
// Turns a list such as [2, 2] that is built in every run into one constant. Its items must be constant numbers, strings
// or None. No operator that takes the list may return or change it. This is certain if the operator's schema declares
// the argument as int[], float[], bool[] or str[]. An operator that declares t[] could return or change the list,
// unless it returns only a number, a bool or an item.
//
// A list in an attribute is a constant already, but a method could change its items. If no method changes a list that
// it got from outside, the pass marks the constant lists as frozen. Later passes then know that the items of a frozen
// list, such as the weights of a recurrent network, stay the same.
//
// A copy of a constant list is constant too. A write that gives an item the number that it already has is removed.
// Layers make such writes to their own copy of a setting before they read it.
#include "compiler/pass.h"
#include "format/saved_value.h"
#include "ir/alias.h"
#include "ops/list/op_table.h"

enum { MOST_ITEMS = 64 }; // largest number of items of a list that is frozen or whose items are found

bool taper_use_only_reads_list(const taper_value_use *use)
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
    // The declared type is a type variable. An operator with such an argument neither changes the list nor passes it on
    // if its result is only a number, a bool or an item.
    return element == TAPER_TYPE_VARIABLE && user->schema->ret_count == 1 &&
           (taper_node_has(user, TAPER_OP_ITEM) || user->schema->rets[0].type->kind == TAPER_TYPE_INT ||
            user->schema->rets[0].type->kind == TAPER_TYPE_BOOL);
}

static bool all_read_only(const taper_ir_value *list)
{
    for (const taper_value_use *use = list->uses; use != NULL; use = use->next) {
        if (!taper_use_only_reads_list(use)) {
            return false;
        }
    }
    return true;
}

// ---- lists that are constants

// Returns true if a node of the block may change a list that was not created by a node of the same graph.
static bool changes_lists(const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t i = 0; node->kind == TAPER_NODE_OP && i < node->schema->arg_count && i < node->input_count; i++) {
            const taper_schema_arg *argument = &node->schema->args[i];
            const taper_ir_value *value = taper_node_in(node, i);
            const bool made =
                value->node != NULL && (value->node->kind == TAPER_NODE_LIST || taper_value_is_fresh(value) ||
                                        taper_node_has(value->node, TAPER_OP_COPIES_ITEMS));
            if (argument->written && argument->type->kind != TAPER_TYPE_TENSOR && !made) {
                return true;
            }
        }
        for (size_t b = 0; b < node->block_count; b++) {
            if (changes_lists(node->blocks[b])) {
                return true;
            }
        }
    }
    return false;
}

static bool lists_change(taper_compilation *compilation)
{
    // Computed once for all graphs: 1 if no graph changes a list that it did not make, 2 if a graph does. The number
    // remains correct, because no pass adds a node that changes a list.
    if (compilation->lists_change == 0) {
        compilation->lists_change = 1;
        for (size_t g = 0; g < compilation->count; g++) {
            if (compilation->graphs[g] != NULL && changes_lists(compilation->graphs[g]->body)) {
                compilation->lists_change = 2;
            }
        }
    }
    return compilation->lists_change == 2;
}

// Returns true if the operator reads the tensors of the list and returns none of them.
static bool only_reads_tensors(const taper_value_use *use)
{
    const taper_node *user = use->user;
    if (user == NULL || user->kind != TAPER_NODE_OP || use->index >= user->schema->arg_count ||
        !taper_node_is_pure(user) || user->schema->args[use->index].alias != 0) {
        return false;
    }
    for (size_t i = 0; i < user->schema->ret_count; i++) {
        if (user->schema->rets[i].type->kind != TAPER_TYPE_TENSOR) {
            return false;
        }
    }
    return taper_type_equal(user->schema->args[use->index].type, &taper_type_list_tensor);
}

static void hold_list(taper_compilation *compilation, taper_node *node)
{
    const taper_list *list = node->constant.as.list;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].tag != TAPER_TENSOR) {
            return;
        }
    }
    for (const taper_value_use *use = node->outputs[0].uses; use != NULL; use = use->next) {
        if (!only_reads_tensors(use)) {
            return;
        }
    }
    if (!lists_change(compilation)) {
        node->own.constant.held = true;
    }
}

static void freeze_list(taper_compilation *compilation, taper_node *node)
{
    const taper_list *list = node->constant.as.list;
    if (list->count != 0 && list->items[0].tag == TAPER_TENSOR) {
        hold_list(compilation, node);
        return;
    }
    if (node->own.constant.frozen || list->count > MOST_ITEMS || !all_read_only(&node->outputs[0])) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (taper_val_is_object(list->items[i]) && list->items[i].tag != TAPER_STRING) {
            return;
        }
    }
    if (!lists_change(compilation)) {
        node->own.constant.frozen = true;
    }
}

// ---- copies of constant lists

// Returns the constant list that a node copies, or NULL if a node may change the copy: all users must read the copy or
// copy it again.
static const taper_list *copied(taper_compilation *compilation, const taper_node *node)
{
    const taper_val *from = taper_node_calls(node, TAPER_OP(aten_copy_t)) ? taper_node_constant_in(node, 0) : NULL;
    if (from == NULL || from->tag != TAPER_LIST || from->as.list->count > MOST_ITEMS || lists_change(compilation)) {
        return NULL;
    }
    for (const taper_value_use *use = taper_node_in(node, 0)->uses; use != NULL; use = use->next) {
        if (!taper_use_only_reads_list(use) &&
            !(use->user != NULL && taper_node_calls(use->user, TAPER_OP(aten_copy_t)))) {
            return NULL;
        }
    }
    return from->as.list;
}

// Returns item i of a list that this graph makes, or NULL if the item is not constant or does not exist.
static const taper_val *made_item(taper_compilation *compilation, const taper_node *made, size_t i)
{
    if (made->kind == TAPER_NODE_LIST) {
        return i < made->input_count ? taper_node_constant_in(made, i) : NULL;
    }
    const taper_list *list = copied(compilation, made);
    return list != NULL && i < list->count ? &list->items[i] : NULL;
}

// Returns true if the user writes to an item the number that the item already has.
static bool puts_the_same(taper_compilation *compilation, const taper_value_use *use)
{
    const taper_node *user = use->user;
    if (user == NULL || !taper_node_calls(user, TAPER_OP(aten__set_item_t)) || use->index != 0 ||
        user->outputs[0].uses != NULL) {
        return false;
    }
    const taper_val *at = taper_node_constant_in(user, 1), *item = taper_node_constant_in(user, 2);
    if (at == NULL || at->tag != TAPER_INT || at->as.i < 0 || at->as.i >= MOST_ITEMS) {
        return false;
    }
    const taper_val *there = made_item(compilation, taper_node_in(user, 0)->node, (size_t)at->as.i);
    return item != NULL && there != NULL && item->tag == TAPER_INT && there->tag == TAPER_INT &&
           item->as.i == there->as.i;
}

static void forget_same(taper_compilation *compilation, taper_node *node)
{
    if (!taper_node_calls(node, TAPER_OP(aten__set_item_t)) || taper_node_in(node, 0)->node == NULL) {
        return;
    }
    const taper_ir_value *list = taper_node_in(node, 0);
    for (const taper_value_use *use = list->uses; use != NULL; use = use->next) {
        if (!taper_use_only_reads_list(use) && !puts_the_same(compilation, use)) {
            return;
        }
    }
    taper_node_remove(node);
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    if (node->kind == TAPER_NODE_CONSTANT && node->constant.tag == TAPER_LIST) {
        freeze_list(compilation, node);
        return TAPER_OK;
    }
    const taper_list *source = copied(compilation, node);
    if ((node->kind != TAPER_NODE_LIST && source == NULL) || node->outputs[0].uses == NULL) {
        forget_same(compilation, node);
        return TAPER_OK;
    }
    const size_t count = source != NULL ? source->count : node->input_count;
    for (size_t i = 0; i < count; i++) {
        const taper_val *item = made_item(compilation, node, i);
        if (item == NULL || (taper_val_is_object(*item) && item->tag != TAPER_STRING)) {
            return TAPER_OK;
        }
    }
    if (!all_read_only(&node->outputs[0])) {
        return TAPER_OK;
    }
    const taper_type *type = node->type;
    taper_heap *heap = compilation->module->heap;
    taper_list *list = taper_list_new(heap, NULL, count);
    if (list == NULL) {
        return taper_fail_memory(compilation->error);
    }
    if (source != NULL) {
        list->element = source->element;
    } else if (type != NULL && type->kind == TAPER_TYPE_LIST && type->items[0]->count == 0 &&
               type->items[0]->name == NULL) {
        list->element = type->items[0]->kind == TAPER_TYPE_INT      ? &taper_type_int
                        : type->items[0]->kind == TAPER_TYPE_FLOAT  ? &taper_type_float
                        : type->items[0]->kind == TAPER_TYPE_BOOL   ? &taper_type_bool
                        : type->items[0]->kind == TAPER_TYPE_STRING ? &taper_type_string
                                                                    : NULL;
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = taper_val_retain(*made_item(compilation, node, i));
    }
    list->count = count;
    if (list->element != NULL && taper_saved_list_type(list, list->element) != list->count) {
        // The list does not become a constant: its items have mixed types, such as a bool among ints, and a file cannot
        // store such a list.
        taper_obj_release(&list->head.head);
        return TAPER_OK;
    }
    taper_ir_value *value;
    TAPER_TRY(taper_constant_before(node, TAPER_VAL(list), &value, compilation->error));
    value->node->own.constant.frozen = true;
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    return TAPER_OK;
}

taper_status taper_pass_constant_lists(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
