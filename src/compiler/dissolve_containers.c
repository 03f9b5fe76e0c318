// SPDX-License-Identifier: BSD-2-Clause
// Lists that are appended to and dicts that are filled, one node after the other in one block, only carry values: a list
// is made at once where it is first read, and what is taken out of a dict is what was put in. So layers that hand their
// results on by them are one region (segments.c), and nobody keeps what was taken out already.
#include "compiler/pass.h"
#include "ops/list/op_table.h"

enum { MOST_ITEMS = 256, MOST_KEYS = 32, MOST_USES = 1024 };

// ---- lists

typedef struct growing {
    taper_ir_value *items[MOST_ITEMS];
    taper_node *appends[MOST_ITEMS];
    size_t count, append_count;
    taper_node *reader; // the first
} growing;

static bool appends_to(const taper_node *user, const taper_ir_value *list)
{
    return taper_node_calls(user, TAPER_OP(aten_append_t)) && taper_node_in(user, 0) == list &&
           taper_node_in(user, 1) != list && user->outputs[0].uses == NULL;
}

// An operator that looks at the items of an argument that it takes as a list, and hands it to nobody.
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

// All that look at the list, in order: first what grows it, then what reads it. False: it is more than that.
static bool follow(const taper_node *list, growing *g)
{
    const taper_ir_value *value = &list->outputs[0];
    size_t uses = 0, seen = 0;
    *g = (growing){.count = list->input_count};
    if (list->input_count > MOST_ITEMS) {
        return false;
    }
    for (size_t i = 0; i < list->input_count; i++) {
        g->items[i] = taper_node_in(list, i);
    }
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (use->user == NULL || use->user->block != list->block || ++uses > MOST_USES) {
            return false;
        }
    }
    for (taper_node *node = list->next; node != NULL && seen < uses; node = node->next) {
        if (!looks_at(node, value)) {
            continue;
        }
        for (size_t i = 0; i < node->input_count; i++) {
            seen += taper_node_in(node, i) == value;
        }
        if (g->reader == NULL && appends_to(node, value)) {
            if (g->count == MOST_ITEMS) {
                return false;
            }
            g->items[g->count++] = taper_node_in(node, 1);
            g->appends[g->append_count++] = node;
        } else if (only_reads(node, value)) {
            g->reader = g->reader == NULL ? node : g->reader;
        } else {
            return false;
        }
    }
    return g->append_count != 0 && g->reader != NULL;
}

static taper_status gather_list(taper_compilation *compilation, taper_graph *graph, taper_node *list)
{
    growing g;
    taper_node *whole;
    if (!follow(list, &g)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_LIST, g.count, 1, &whole, compilation->error));
    whole->type = list->type;
    whole->outputs[0].type = list->outputs[0].type;
    whole->debug = list->debug;
    whole->instruction = list->instruction;
    taper_node_insert_before(whole, g.reader);
    for (size_t i = 0; i < g.count; i++) {
        taper_node_set_input(whole, i, g.items[i]);
    }
    for (size_t i = 0; i < g.append_count; i++) {
        taper_node_remove(g.appends[i]);
    }
    taper_value_replace_uses(&list->outputs[0], &whole->outputs[0]);
    taper_node_remove(list);
    return TAPER_OK;
}

// ---- dicts

typedef struct entry {
    taper_val key; // a string, of a constant
    taper_ir_value *value;
} entry;

static bool same_key(taper_val a, taper_val b)
{
    return a.tag == TAPER_STRING && b.tag == TAPER_STRING && a.as.string->length == b.as.string->length &&
           memcmp(a.as.string->data, b.as.string->data, a.as.string->length) == 0;
}

// What is taken out is what was put in last, as long as nobody else has had the dict.
static void follow_dict(taper_node *dict)
{
    taper_ir_value *const value = &dict->outputs[0];
    entry entries[MOST_KEYS];
    size_t count = 0, uses = 0;
    bool here = true, given = false; // who looks at it stands in its block, or gets it at the end of that
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (++uses > MOST_USES) {
            return;
        }
        here = here && use->block == dict->block;
        given = given || use->user == NULL;
    }
    bool all = here && !given; // that look at it were understood
    for (taper_node *node = dict->next, *next; node != NULL; node = next) {
        next = node->next;
        if (node->block_count != 0 && !here) { // who looks at it in there is not followed
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
        } else { // raises
            all = false;
            break;
        }
    }
    while (all && value->uses != NULL) { // only what puts is left
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
            // What stands next may go with it.
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
