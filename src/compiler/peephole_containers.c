// SPDX-License-Identifier: BSD-2-Clause
// Replaces reads of items of a list, tuple or dict by the items, if the graph made the container and nothing changed
// it.
#include "compiler/peephole.h"

static taper_node *maker_of_kind(const taper_node *node, taper_node_kind kind)
{
    taper_node *maker = node->input_count != 0 ? taper_node_in(node, 0)->node : NULL;
    return maker != NULL && maker->kind == kind ? maker : NULL;
}

// Reads the constant index in input 1 and sets *at to its position among `count` items, by Python's rules. Returns
// false if the index is unknown or out of range.
static bool position(const taper_node *node, size_t count, size_t *at)
{
    const taper_val *index = taper_node_constant_in(node, 1);
    if (index == NULL || index->tag != TAPER_INT) {
        return false;
    }
    const int64_t wrapped =
        index->as.i < 0 && index->as.i >= -(int64_t)count ? index->as.i + (int64_t)count : index->as.i;
    *at = (size_t)wrapped;
    return wrapped >= 0 && (uint64_t)wrapped < count;
}

static void replace_all(taper_node *node, const taper_node *maker, bool *done)
{
    for (size_t i = 0; i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], taper_node_in(maker, i));
    }
    taper_node_remove(node);
    *done = true;
}

// ---- tuples

static taper_status constant_tuple(taper_peephole *p, taper_node *node, const taper_tuple *tuple, bool *done)
{
    size_t at;
    if (node->kind == TAPER_NODE_OP) {
        return position(node, tuple->count, &at)
                   ? taper_peephole_constant(p, node, taper_val_retain(tuple->items[at]), done)
                   : TAPER_OK;
    }
    if (node->kind != TAPER_NODE_TUPLE_UNPACK || node->output_count != tuple->count) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < tuple->count; i++) {
        taper_ir_value *value;
        TAPER_TRY(taper_constant_before(node, taper_val_retain(tuple->items[i]), &value, p->compilation->error));
        taper_value_replace_uses(&node->outputs[i], value);
    }
    taper_node_remove(node);
    *done = true;
    return TAPER_OK;
}

static taper_status slice(taper_peephole *p, taper_node *node, const taper_node *tuple, bool *done)
{
    if (node->own.slice.begin < 0 || node->own.slice.begin > node->own.slice.end ||
        (uint64_t)node->own.slice.end > tuple->input_count) {
        return TAPER_OK;
    }
    taper_node *part;
    TAPER_TRY(taper_node_create(node->block->graph, TAPER_NODE_TUPLE,
                                (size_t)(node->own.slice.end - node->own.slice.begin), 1, &part,
                                p->compilation->error));
    part->debug = node->debug;
    part->instruction = node->instruction;
    taper_node_insert_before(part, node);
    for (size_t i = 0; i < part->input_count; i++) {
        taper_node_set_input(part, i, taper_node_in(tuple, (size_t)node->own.slice.begin + i));
    }
    part->outputs[0].type = node->outputs[0].type;
    return taper_peephole_replace(node, &part->outputs[0], done);
}

static taper_status tuples(taper_peephole *p, taper_node *node, bool *done)
{
    const bool index = taper_node_calls(node, TAPER_OP(prim_TupleIndex));
    if (!index && node->kind != TAPER_NODE_TUPLE_UNPACK && node->kind != TAPER_NODE_TUPLE_SLICE) {
        return TAPER_OK;
    }
    const taper_val *constant = taper_node_constant_in(node, 0);
    if (constant != NULL) {
        return constant->tag == TAPER_TUPLE ? constant_tuple(p, node, constant->as.tuple, done) : TAPER_OK;
    }
    const taper_node *tuple = maker_of_kind(node, TAPER_NODE_TUPLE);
    size_t at;
    if (tuple == NULL) {
        return TAPER_OK;
    }
    if (node->kind == TAPER_NODE_TUPLE_SLICE) {
        return slice(p, node, tuple, done);
    }
    if (index) {
        return position(node, tuple->input_count, &at) ? taper_peephole_replace(node, taper_node_in(tuple, at), done)
                                                       : TAPER_OK;
    }
    if (node->output_count == tuple->input_count) {
        replace_all(node, tuple, done);
    }
    return TAPER_OK;
}

// ---- lists

static taper_status lists(taper_peephole *p, taper_node *node, bool *done)
{
    const taper_node *list = maker_of_kind(node, TAPER_NODE_LIST);
    const bool unpack = node->kind == TAPER_NODE_LIST_UNPACK,
               item = taper_node_calls(node, TAPER_OP(aten___getitem___t));
    const bool length = taper_node_calls(node, TAPER_OP(aten_len_t));
    size_t at;
    if (list == NULL || !(unpack || item || length) || !taper_value_is_only_read(&list->outputs[0])) {
        return TAPER_OK;
    }
    if (length) {
        return taper_peephole_constant(p, node, taper_val_int((int64_t)list->input_count), done);
    }
    if (item) {
        return position(node, list->input_count, &at) ? taper_peephole_replace(node, taper_node_in(list, at), done)
                                                      : TAPER_OK;
    }
    if (node->output_count == list->input_count) {
        replace_all(node, list, done);
    }
    return TAPER_OK;
}

// ---- dicts

enum { MOST_PAIRS = 64 }; // largest number of pairs in a dict that are searched, one by one

// Finds the input of the node `dict` that is the value of the key. *at receives the input's index, or 0 if the key is
// missing. Returns false if the answer is unknown.
static bool find_key(const taper_node *dict, taper_val key, size_t *at)
{
    *at = 0;
    if (dict->input_count > 2 * MOST_PAIRS || (key.tag != TAPER_STRING && key.tag != TAPER_INT)) {
        return false;
    }
    for (size_t i = 0; i + 1 < dict->input_count; i += 2) {
        const taper_val *other = taper_node_constant_in(dict, i);
        if (other == NULL || other->tag != key.tag) {
            return false;
        }
        if (taper_val_equal(*other, key)) {
            *at = i + 1; // continues, because the last pair with this key wins
        }
    }
    return true;
}

static taper_status dicts(taper_peephole *p, taper_node *node, bool *done)
{
    const taper_node *dict = maker_of_kind(node, TAPER_NODE_DICT);
    const bool item = taper_node_calls(node, TAPER_OP(aten___getitem___Dict_str)) ||
                      taper_node_calls(node, TAPER_OP(aten___getitem___Dict_int));
    const bool contains = taper_node_calls(node, TAPER_OP(aten___contains___str)) ||
                          taper_node_calls(node, TAPER_OP(aten___contains___int));
    const taper_val *key = taper_node_constant_in(node, 1);
    size_t at;
    if (dict == NULL || !(item || contains) || key == NULL || !taper_value_is_only_read(&dict->outputs[0]) ||
        !find_key(dict, *key, &at)) {
        return TAPER_OK;
    }
    if (contains) {
        return taper_peephole_constant(p, node, taper_val_bool(at != 0), done);
    }
    return at != 0 ? taper_peephole_replace(node, taper_node_in(dict, at), done) : TAPER_OK;
}

taper_status taper_peephole_containers(taper_peephole *p, taper_node *node, bool *done)
{
    TAPER_TRY(tuples(p, node, done));
    if (!*done) {
        TAPER_TRY(lists(p, node, done));
    }
    return *done ? TAPER_OK : dicts(p, node, done);
}
