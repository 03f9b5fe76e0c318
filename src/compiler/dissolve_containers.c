// SPDX-License-Identifier: BSD-2-Clause
// Dissolves lists that are only appended to, and dicts that are only filled, if all users of the container are in one
// block. Each reader of such a list gets its own list with the items appended so far. A value read from such a dict
// becomes the value that was stored. Layers that pass results through a container can then be in one region
// (segments.c), and the container no longer keeps values alive that were already read.
#include "compiler/pass.h"
#include "ops/list/op_table.h"

enum {
    MOST_ITEMS = 256,
    MOST_MADE = 16384,
    MOST_KEYS = 32,
    MOST_USES = 1024,
    FARTHEST = 4096 // largest number of nodes from the container to its last user
};

// ---- lists

static bool appends_to(const taper_node *user, const taper_ir_value *list)
{
    return taper_node_calls(user, TAPER_OP(aten_append_t)) && taper_node_in(user, 0) == list &&
           taper_node_in(user, 1) != list && user->outputs[0].uses == NULL;
}

// Returns true if the operator reads the items of its list argument and returns neither the list nor its items.
static bool only_reads(const taper_node *user, const taper_ir_value *list)
{
    if (user->kind == TAPER_NODE_LIST_UNPACK) {
        return true;
    }
    bool reads = user->kind == TAPER_NODE_OP && taper_node_is_pure(user);
    for (size_t i = 0; reads && i < user->input_count; i++) {
        if (taper_node_in(user, i) == list) {
            reads = i < user->schema->arg_count && user->schema->args[i].alias == 0 &&
                    user->schema->args[i].type->kind == TAPER_TYPE_LIST &&
                    user->schema->args[i].type->items[0]->kind != TAPER_TYPE_VARIABLE;
        }
    }
    return reads;
}

static bool looks_at(const taper_node *node, const taper_ir_value *value)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (taper_node_in(node, i) == value) {
            return true;
        }
    }
    return false;
}

// Returns true if all users of the list are in its block, each of them appends to it or reads it, and there is at least
// one append and one read.
static bool only_grows(const taper_node *list)
{
    const taper_ir_value *value = &list->outputs[0];
    size_t uses = 0, grows = 0, reads = 0, items = list->input_count;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        if (user == NULL || user->block != list->block || ++uses > MOST_USES) {
            return false;
        }
        const bool appends = appends_to(user, value);
        if (!appends && !only_reads(user, value)) {
            return false;
        }
        grows += appends;
        reads += !appends;
    }
    items += grows;
    size_t seen = 0, passed = 0;
    for (const taper_node *node = list->next; node != NULL && seen < uses && passed < FARTHEST; node = node->next) {
        for (size_t i = 0; i < node->input_count; i++) {
            seen += taper_node_in(node, i) == value;
        }
        passed++;
    }
    return seen == uses && grows != 0 && reads != 0 && items <= MOST_ITEMS && items * reads <= MOST_MADE;
}

// Makes a list of the items appended so far, for one reader.
static taper_status list_for(taper_compilation *compilation, taper_graph *graph, const taper_node *list,
                             taper_ir_value *const *items, size_t count, taper_node *reader)
{
    taper_node *made;
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_LIST, count, 1, &made, compilation->error));
    made->type = list->type;
    made->outputs[0].type = list->outputs[0].type;
    made->debug = list->debug;
    made->instruction = list->instruction;
    taper_node_insert_before(made, reader);
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(made, i, items[i]);
    }
    for (size_t i = 0; i < reader->input_count; i++) {
        if (taper_node_in(reader, i) == &list->outputs[0]) {
            taper_node_set_input(reader, i, &made->outputs[0]);
        }
    }
    return TAPER_OK;
}

static taper_status gather_list(taper_compilation *compilation, taper_graph *graph, taper_node *list)
{
    taper_ir_value *items[MOST_ITEMS];
    size_t count = 0;
    if (!only_grows(list)) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < list->input_count; i++) {
        items[count++] = taper_node_in(list, i);
    }
    for (taper_node *node = list->next, *next; node != NULL && list->outputs[0].uses != NULL; node = next) {
        next = node->next;
        if (!looks_at(node, &list->outputs[0])) {
            continue;
        }
        if (appends_to(node, &list->outputs[0])) {
            items[count++] = taper_node_in(node, 1);
            taper_node_remove(node);
        } else {
            TAPER_TRY(list_for(compilation, graph, list, items, count, node));
        }
    }
    taper_node_remove(list);
    return TAPER_OK;
}

// ---- dicts

typedef struct entry {
    taper_val key; // key, from a constant string
    taper_ir_value *value;
} entry;

static bool same_key(taper_val a, taper_val b)
{
    return a.tag == TAPER_STRING && b.tag == TAPER_STRING && a.as.string->length == b.as.string->length &&
           memcmp(a.as.string->data, b.as.string->data, a.as.string->length) == 0;
}

// Replaces each read of a key by the value that was last stored for it, up to a node that may change the dict in
// another way than by storing a value.
static void follow_dict(taper_node *dict)
{
    taper_ir_value *const value = &dict->outputs[0];
    entry entries[MOST_KEYS];
    size_t count = 0, uses = 0;
    // here: true if all users are in the dict's block; given: true if the block returns the dict
    bool here = true, given = false;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (++uses > MOST_USES) {
            return;
        }
        here = here && use->block == dict->block;
        given = given || use->user == NULL;
    }
    bool all = here && !given; // true if this function handles every user
    size_t passed = 0;
    for (taper_node *node = dict->next, *next; node != NULL; node = next) {
        next = node->next;
        if (++passed > FARTHEST) {
            all = false;
            break;
        }
        if (node->block_count != 0 && !here) { // users in inner blocks are not followed
            all = false;
            break;
        }
        if (!looks_at(node, value)) {
            continue;
        }
        const taper_val *key = node->input_count > 1 ? taper_node_constant_in(node, 1) : NULL;
        const bool puts = taper_node_calls(node, TAPER_OP(aten__set_item_str)) && taper_node_in(node, 2) != value;
        const bool takes = taper_node_calls(node, TAPER_OP(aten___getitem___Dict_str));
        if (key == NULL || key->tag != TAPER_STRING || (!puts && !takes)) {
            all = false;
            break;
        }
        size_t at = 0;
        while (at < count && !same_key(entries[at].key, *key)) {
            at++;
        }
        if (puts && at == MOST_KEYS) {
            all = false;
            break;
        }
        if (puts) {
            count += at == count;
            entries[at] = (entry){*key, taper_node_in(node, 2)};
        } else if (at < count) {
            taper_value_replace_uses(&node->outputs[0], entries[at].value);
            taper_node_remove(node);
        } else { // reading this key raises an error
            all = false;
            break;
        }
    }
    while (all && value->uses != NULL) { // only nodes that write to the dict remain
        taper_node_remove(value->uses->user);
    }
    if (all) {
        taper_node_remove(dict);
    }
}

static taper_status visit(taper_compilation *compilation, taper_graph *graph, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(visit(compilation, graph, node->blocks[b]));
        }
        if (node->kind == TAPER_NODE_LIST) {
            TAPER_TRY(gather_list(compilation, graph, node));
        } else if (taper_node_calls(node, TAPER_OP(aten_dict)) ||
                   (node->kind == TAPER_NODE_DICT && node->input_count == 0)) {
            // follow_dict may also remove the node after this one.
            taper_node *const before = node->previous;
            follow_dict(node);
            next = before != NULL ? before->next : block->first;
            next = next == node ? node->next : next;
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_dissolve_containers(taper_compilation *compilation, taper_graph *graph)
{
    return visit(compilation, graph, graph->body);
}
