// SPDX-License-Identifier: BSD-2-Clause
// Merges common subexpressions: a pure node is replaced by an equal node that is earlier in its block, or in a block
// that encloses it. Equal constants are merged. No node between the two nodes may write to their inputs. If the two
// nodes make tensors, no node may write to these tensors. At most one of the two tensors may reach the caller (or
// another place that keeps it), because PyTorch would give the caller two tensors. Each node is visited once. The table
// contains the nodes of the current block and of the blocks that enclose it.
#include "compiler/pass.h"
#include "ir/alias.h"
#include "ir/type_table.h"

enum {
    MOST_PROBES = 32, // largest number of nodes in a bucket that are examined for one node
    LARGE_TYPE = 64   // number of parts from which a type is not compared part by part
};

typedef struct entry {
    taper_node *node;
    uint64_t hash;
    uint64_t time;  // number of writes before this node
    uint32_t below; // index + 1 of the next entry of the same bucket, or 0 if there is none
} entry;

typedef struct table {
    taper_compilation *compilation;
    taper_aliases *aliases;
    uint64_t *written_at; // for each alias set (ir/alias.h): time of the last write so far
    uint64_t time;
    // Time when the innermost loop began. At the start of a later iteration, anything may have been written since that
    // time.
    uint64_t loop_entry;
    uint32_t *buckets;   // for each hash value: index + 1 of the newest entry, or 0 if the bucket is empty
    size_t bucket_count; // number of buckets, a power of two
    entry *entries;
    size_t entry_count, entry_capacity;
} table;

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

// ---- equal constants

static uint64_t hash_constant(const taper_node *node)
{
    const taper_val value = node->constant;
    const uint64_t seed = value.tag + 64 * (uint64_t)node->own.constant.frozen;
    if (value.tag == TAPER_STRING) {
        return taper_hash_bytes(seed, value.as.string->data, value.as.string->length);
    }
    if (value.tag == TAPER_LIST && node->own.constant.frozen) {
        uint64_t hash = seed;
        for (size_t i = 0; i < value.as.list->count && !taper_val_is_object(value.as.list->items[i]); i++) {
            hash = mix(hash, value.as.list->items[i].tag == TAPER_INT ? (uint64_t)value.as.list->items[i].as.i : 1);
        }
        return hash;
    }
    return mix(seed, value.tag == TAPER_NONE ? 0 : value.tag == TAPER_BOOLEAN ? value.as.b : (uint64_t)value.as.i);
}

// Floats are compared bit by bit, because 0.0 is not -0.0. Objects must be identical, except strings.
static bool same_item(taper_val a, taper_val b)
{
    if (a.tag != b.tag) {
        return false;
    }
    switch (a.tag) {
    case TAPER_NONE:
        return true;
    case TAPER_BOOLEAN:
        return a.as.b == b.as.b;
    case TAPER_STRING:
        return a.as.string->length == b.as.string->length &&
               memcmp(a.as.string->data, b.as.string->data, a.as.string->length) == 0;
    case TAPER_INT:
    case TAPER_DOUBLE:
    case TAPER_DEVICE:
        return a.as.i == b.as.i;
    default:
        return taper_val_is_object(a) && a.as.obj == b.as.obj;
    }
}

// Returns true if the types are equal. Large types are equal only if they are one object. A file could contain many
// large types that differ only at the end, and comparing these part by part would take too long.
static bool same_type(const taper_type *a, const taper_type *b)
{
    return a == b || (a != NULL && b != NULL && a->nodes < LARGE_TYPE && taper_type_equal(a, b));
}

static bool same_constant(const taper_node *a, const taper_node *b)
{
    if (a->own.constant.frozen != b->own.constant.frozen || !same_type(a->outputs[0].type, b->outputs[0].type)) {
        return false;
    }
    if (!a->own.constant.frozen || a->constant.tag != TAPER_LIST || b->constant.tag != TAPER_LIST) {
        return same_item(a->constant, b->constant);
    }
    const taper_list *x = a->constant.as.list, *y = b->constant.as.list;
    bool same = x->count == y->count && same_type(x->element, y->element);
    for (size_t i = 0; same && i < x->count; i++) {
        same = same_item(x->items[i], y->items[i]);
    }
    return same;
}

// ---- equal nodes

static uint64_t hash_node(const taper_node *node)
{
    if (node->kind == TAPER_NODE_CONSTANT) {
        return hash_constant(node);
    }
    const uintptr_t row = node->op != NULL ? (uintptr_t)(node->op - taper_ops) : 0;
    uint64_t hash = mix(mix(node->kind, row), node->own.words[0]);
    for (size_t i = 0; i < node->input_count; i++) {
        hash = mix(hash, taper_node_in(node, i)->id);
    }
    return hash;
}

static bool same_node(const taper_node *a, const taper_node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->input_count != b->input_count ||
        a->output_count != b->output_count || memcmp(&a->own, &b->own, sizeof a->own) != 0 ||
        a->type_count != b->type_count || !same_type(a->type, b->type)) {
        return false;
    }
    if (a->kind == TAPER_NODE_CONSTANT) {
        return same_constant(a, b);
    }
    for (size_t i = 0; i < a->type_count; i++) {
        if (!same_type(a->types[i], b->types[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < a->input_count; i++) {
        if (taper_node_in(a, i) != taper_node_in(b, i)) {
            return false;
        }
    }
    for (size_t i = 0; i < a->output_count; i++) {
        if (!same_type(a->outputs[i].type, b->outputs[i].type)) {
            return false;
        }
    }
    return true;
}

// ---- conditions for replacing equal nodes by one node

// Returns true if the result is an object that the node's input contains, not a copy.
static bool is_projection(const taper_node *node)
{
    return taper_node_has(node, TAPER_OP_ITEM | TAPER_OP_SELF);
}

static taper_status is_candidate(const table *t, const taper_node *node, bool *candidate)
{
    *candidate = false;
    switch ((taper_node_kind)node->kind) {
    case TAPER_NODE_GET_ATTR: {
        bool is_set;
        TAPER_TRY(taper_slot_is_set(t->compilation, node->own.slot, &is_set));
        *candidate = !is_set;
        return TAPER_OK;
    }
    case TAPER_NODE_CONSTANT:
    case TAPER_NODE_LIST:
    case TAPER_NODE_TUPLE:
    case TAPER_NODE_DICT:
    case TAPER_NODE_LIST_UNPACK:
    case TAPER_NODE_TUPLE_UNPACK:
    case TAPER_NODE_TUPLE_SLICE:
    case TAPER_NODE_ISINSTANCE:
        *candidate = true;
        return TAPER_OK;
    case TAPER_NODE_OP:
        *candidate = node->output_count != 0 && taper_node_is_pure(node);
        return TAPER_OK;
    default:
        return TAPER_OK;
    }
}

// Returns true if no input of `node` has been written to since `time`.
static bool unchanged_since(const table *t, const taper_node *node, uint64_t time)
{
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        if (taper_value_is_plain(value) || !taper_aliases_written(t->aliases, value)) {
            continue;
        }
        if (time < t->loop_entry || t->written_at[taper_aliases_set(t->aliases, value)] > time) {
            return false;
        }
    }
    return true;
}

enum { MOST_USES = 64 }; // largest number of uses of one value that are examined

// Returns true if a user compares the identity of the value with an object other than None.
static bool is_compared(const taper_ir_value *value)
{
    int count = 0;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (++count > MOST_USES) {
            return true;
        }
        if (use->user != NULL && taper_node_has(use->user, TAPER_OP_ASKS_IDENTITY)) {
            const taper_val *other = taper_node_constant_in(use->user, 1 - use->index % 2);
            if (other == NULL || other->tag != TAPER_NONE) {
                return true;
            }
        }
    }
    return false;
}

// Returns true if b may be replaced by a. later_trip: true if b is in a loop and a is not, so that b may be made
// several times.
static bool may_be_one(const table *t, const taper_ir_value *a, const taper_ir_value *b, bool later_trip)
{
    if (taper_value_is_plain(a)) {
        return true;
    }
    if (taper_aliases_written(t->aliases, a) || taper_aliases_written(t->aliases, b) || is_compared(a) ||
        is_compared(b)) {
        return false;
    }
    if (!taper_aliases_escapes(t->aliases, b) || (!later_trip && !taper_aliases_escapes(t->aliases, a))) {
        return true;
    }
    // Two equal views share their memory whether or not this pass merges them.
    const bool view = a->node->kind == TAPER_NODE_OP && !taper_value_is_fresh(a);
    return view ? !taper_value_object_handed_on(b) || (!later_trip && !taper_value_object_handed_on(a))
                : !taper_value_memory_handed_on(b) || (!later_trip && !taper_value_memory_handed_on(a));
}

static bool may_merge(const table *t, const entry *first, const taper_node *node)
{
    if (node->kind == TAPER_NODE_CONSTANT || node->kind == TAPER_NODE_GET_ATTR) {
        return true;
    }
    if (!unchanged_since(t, node, first->time)) {
        return false;
    }
    const bool list = node->kind == TAPER_NODE_LIST || node->kind == TAPER_NODE_DICT;
    if (list && taper_value_is_only_read(&first->node->outputs[0]) && taper_value_is_only_read(&node->outputs[0])) {
        return true;
    }
    if (is_projection(node) || (node->kind != TAPER_NODE_OP && !list)) {
        return true;
    }
    for (size_t i = 0; i < node->output_count; i++) {
        if (!may_be_one(t, &first->node->outputs[i], &node->outputs[i], first->time < t->loop_entry)) {
            return false;
        }
    }
    return true;
}

// ---- visiting the nodes of a graph

static taper_status add_entry(table *t, taper_node *node, uint64_t hash)
{
    uint32_t *bucket = &t->buckets[hash & (t->bucket_count - 1)];
    if (t->entry_count >= UINT32_MAX - 1) {
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_GROW(t->compilation->allocator, t->entries, t->entry_capacity, t->entry_count + 1,
                         t->compilation->error));
    t->entries[t->entry_count++] = (entry){node, hash, t->time, *bucket};
    *bucket = (uint32_t)t->entry_count;
    return TAPER_OK;
}

static void forget_entries(table *t, size_t count)
{
    while (t->entry_count > count) {
        const entry *last = &t->entries[--t->entry_count];
        t->buckets[last->hash & (t->bucket_count - 1)] = last->below;
    }
}

// Replaces `node` by an earlier equal node if such a node exists, otherwise adds `node` to the table.
static taper_status look_up(table *t, taper_node *node)
{
    bool candidate;
    TAPER_TRY(is_candidate(t, node, &candidate));
    if (!candidate) {
        return TAPER_OK;
    }
    const uint64_t hash = hash_node(node);
    uint32_t at = t->buckets[hash & (t->bucket_count - 1)];
    for (int probe = 0; at != 0 && probe < MOST_PROBES; probe++, at = t->entries[at - 1].below) {
        const entry *e = &t->entries[at - 1];
        if (e->hash != hash || !same_node(e->node, node) || !may_merge(t, e, node)) {
            continue;
        }
        for (size_t i = 0; i < node->output_count; i++) {
            taper_value_replace_uses(&node->outputs[i], &e->node->outputs[i]);
        }
        taper_node_remove(node);
        return TAPER_OK;
    }
    return add_entry(t, node, hash);
}

static void note_writes(table *t, const taper_node *node)
{
    if (node->kind == TAPER_NODE_CALL) {
        t->written_at[taper_aliases_outside(t->aliases)] = ++t->time;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        if (taper_node_writes(node, i)) {
            t->written_at[taper_aliases_set(t->aliases, taper_node_in(node, i))] = ++t->time;
        }
    }
}

static taper_status visit_block(table *t, taper_block *block)
{
    const size_t entries = t->entry_count;
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        if (node->kind == TAPER_NODE_LOOP) {
            t->loop_entry = ++t->time;
        }
        for (size_t b = 0; b < node->block_count && node->kind != TAPER_NODE_SEGMENT; b++) {
            TAPER_TRY(visit_block(t, node->blocks[b]));
        }
        note_writes(t, node);
        TAPER_TRY(look_up(t, node));
    }
    forget_entries(t, entries);
    return TAPER_OK;
}

taper_status taper_pass_cse(taper_compilation *compilation, taper_graph *graph)
{
    table t = {.compilation = compilation, .bucket_count = 64};
    while (t.bucket_count < graph->node_count && t.bucket_count < (size_t)1 << 24) {
        t.bucket_count *= 2;
    }
    TAPER_TRY(taper_aliases_create(graph, &t.aliases, compilation->error));
    const size_t sets = taper_aliases_count(t.aliases) * sizeof *t.written_at;
    const size_t buckets = t.bucket_count * sizeof *t.buckets;
    t.written_at = taper_alloc_zeroed(compilation->allocator, sets);
    t.buckets = taper_alloc_zeroed(compilation->allocator, buckets);
    const taper_status status = t.written_at == NULL || t.buckets == NULL ? taper_fail_memory(compilation->error)
                                                                          : visit_block(&t, graph->body);
    taper_free(compilation->allocator, t.written_at, sets);
    taper_free(compilation->allocator, t.buckets, buckets);
    taper_free(compilation->allocator, t.entries, t.entry_capacity * sizeof *t.entries);
    taper_aliases_destroy(t.aliases);
    return status;
}
