// SPDX-License-Identifier: BSD-2-Clause
// Finds the model's tensors, lists and dicts that any graph writes to in place. For every argument that a schema marks
// as written, this pass follows views, containers and control flow back to the attributes and constants that may
// contain the value. If the origin of a written value cannot be found, everything counts as written.
#include "base/pointer_map.h"
#include "compiler/pass.h"

#ifndef TAPER_WITHOUT_PASSES

struct taper_written_storages {
    taper_pointer_map items; // addresses that are written to: storages of tensors, and lists and dicts themselves
    size_t looks; // number of values visited; limited, because values of a file may contain each other many times
    bool all;
};

enum { MOST_LOOKS = 1000000 };

typedef struct walk {
    taper_compilation *compilation;
    taper_written_storages *written;
    const taper_graph *graph;
    const taper_ir_value *self; // the parameter self in a method of the root, or NULL in methods of other classes
    uint8_t *seen;              // values already visited, by id
    const taper_ir_value **work;
    size_t count, capacity;
} walk;

static taper_status add_item(walk *w, const void *item)
{
    return taper_pointer_find(&w->written->items, item) != NULL
               ? TAPER_OK
               : taper_pointer_add(w->compilation->allocator, &w->written->items, item, 1, w->compilation->error);
}

// Adds the value and its contents. The depth is bounded, because the reader of the file limits the depth of values.
static taper_status add_value(walk *w, taper_val value, int depth)
{
    if (depth > TAPER_LIMIT_VALUE_DEPTH || ++w->written->looks > MOST_LOOKS || w->written->all) {
        w->written->all = true;
        return TAPER_OK;
    }
    switch (value.tag) {
    case TAPER_TENSOR:
        return add_item(w, value.as.tensor->storage);
    case TAPER_LIST:
        TAPER_TRY(add_item(w, value.as.list));
        for (size_t i = 0; i < value.as.list->count; i++) {
            TAPER_TRY(add_value(w, value.as.list->items[i], depth + 1));
        }
        return TAPER_OK;
    case TAPER_TUPLE:
        for (size_t i = 0; i < value.as.tuple->count; i++) {
            TAPER_TRY(add_value(w, value.as.tuple->items[i], depth + 1));
        }
        return TAPER_OK;
    case TAPER_DICT:
        TAPER_TRY(add_item(w, value.as.dict));
        for (size_t i = 0; i < value.as.dict->count; i++) {
            TAPER_TRY(add_value(w, taper_dict_value(value.as.dict, i), depth + 1));
        }
        return TAPER_OK;
    default:
        return TAPER_OK;
    }
}

static taper_status push(walk *w, const taper_ir_value *value)
{
    if (w->seen[value->id]) {
        return TAPER_OK;
    }
    w->seen[value->id] = 1;
    TAPER_TRY(TAPER_GROW(w->compilation->allocator, w->work, w->capacity, w->count + 1, w->compilation->error));
    w->work[w->count++] = value;
    return TAPER_OK;
}

static taper_status push_inputs(walk *w, const taper_ir_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(push(w, inputs[i].value));
    }
    return TAPER_OK;
}

// Returns true if a result of the operator may share memory with an argument or with an item of an argument.
static bool may_alias(const taper_node *node)
{
    if (taper_op_has(node->op, TAPER_OP_VIEW) || node->schema->vararg || node->schema->varret) {
        return true;
    }
    for (size_t i = 0; i < node->schema->ret_count; i++) {
        const taper_schema_arg *ret = &node->schema->rets[i];
        if (ret->alias != 0 || ret->wildcard || ret->type->kind == TAPER_TYPE_VARIABLE) {
            return true;
        }
    }
    return false;
}

// Returns the value that this IR value has at run time, or None if it is unknown.
static taper_val object_of(const walk *w, const taper_ir_value *value, int depth)
{
    if (value == w->self) {
        return w->compilation->root;
    }
    const taper_node *node = value->node;
    if (node != NULL && node->kind == TAPER_NODE_CONSTANT) {
        return node->constant;
    }
    if (node == NULL || node->kind != TAPER_NODE_GET_ATTR || depth > TAPER_LIMIT_INLINE_DEPTH) {
        return taper_val_none();
    }
    const taper_val from = object_of(w, taper_node_in(node, 0), depth + 1);
    return from.tag == TAPER_OBJECT && (uint64_t)node->own.slot < from.as.object->count
               ? from.as.object->slots[node->own.slot]
               : taper_val_none();
}

static taper_status walk_attribute(walk *w, const taper_node *node)
{
    const taper_val object = object_of(w, taper_node_in(node, 0), 0);
    if (object.tag != TAPER_OBJECT) {
        w->written->all = true;
        return TAPER_OK;
    }
    return (uint64_t)node->own.slot < object.as.object->count ? add_value(w, object.as.object->slots[node->own.slot], 0)
                                                              : TAPER_OK;
}

// Follows a parameter of a loop's body to the values that the loop carries. Parameters of a function are not followed
// to the arguments of its calls.
static taper_status walk_parameter(walk *w, const taper_ir_value *value)
{
    const taper_node *loop = value->block->parent;
    if (loop == NULL || value->index == 0) {
        return TAPER_OK;
    }
    TAPER_TRY(push(w, taper_node_in(loop, value->index + 1)));
    return push(w, value->block->results[value->index].value);
}

static taper_status walk_back(walk *w, const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (node == NULL) {
        return walk_parameter(w, value);
    }
    switch ((taper_node_kind)node->kind) {
    case TAPER_NODE_CONSTANT:
        return add_value(w, node->constant, 0);
    case TAPER_NODE_OP:
        return may_alias(node) ? push_inputs(w, node->inputs, node->input_count) : TAPER_OK;
    case TAPER_NODE_IF:
        TAPER_TRY(push(w, node->blocks[0]->results[value->index].value));
        return push(w, node->blocks[1]->results[value->index].value);
    case TAPER_NODE_LOOP:
        TAPER_TRY(push(w, taper_node_in(node, value->index + 2)));
        return push(w, node->blocks[0]->results[value->index + 1].value);
    case TAPER_NODE_GET_ATTR:
        return walk_attribute(w, node);
    case TAPER_NODE_LIST:
    case TAPER_NODE_TUPLE:
    case TAPER_NODE_DICT:
    case TAPER_NODE_LIST_UNPACK:
    case TAPER_NODE_TUPLE_UNPACK:
    case TAPER_NODE_TUPLE_SLICE:
        return push_inputs(w, node->inputs, node->input_count);
    default: // a called function may return anything that it can reach
        w->written->all = true;
        return TAPER_OK;
    }
}

static taper_status find_writes(walk *w, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(find_writes(w, node->blocks[b]));
        }
        if (node->kind != TAPER_NODE_OP) {
            continue;
        }
        for (size_t i = 0; i < node->schema->arg_count && i < node->input_count; i++) {
            if (node->schema->args[i].written) {
                TAPER_TRY(push(w, taper_node_in(node, i)));
            }
        }
        // In training, batch norm and instance norm write their statistics, although their schemas do not say so.
        if (taper_node_updates_statistics(node) && node->input_count > 4) {
            TAPER_TRY(push_inputs(w, node->inputs + 3, 2));
        }
    }
    return TAPER_OK;
}

static taper_status walk_graph(walk *w)
{
    const size_t size = (size_t)w->graph->value_count + 1;
    w->seen = taper_alloc_zeroed(w->compilation->allocator, size);
    w->count = 0;
    taper_status status = w->seen == NULL ? taper_fail_memory(w->compilation->error) : find_writes(w, w->graph->body);
    while (status == TAPER_OK && w->count != 0 && !w->written->all) {
        status = walk_back(w, w->work[--w->count]);
    }
    taper_free(w->compilation->allocator, w->seen, size);
    return status;
}

taper_status taper_written_storages_find(taper_compilation *compilation)
{
    if (compilation->written != NULL) {
        return TAPER_OK;
    }
    walk w = {.compilation = compilation,
              .written = taper_alloc_zeroed(compilation->allocator, sizeof *compilation->written)};
    if (w.written == NULL) {
        return taper_fail_memory(compilation->error);
    }
    compilation->written = w.written;
    taper_status status = TAPER_OK;
    for (size_t g = 0; status == TAPER_OK && g < compilation->count; g++) {
        w.graph = compilation->graphs[g];
        if (w.graph == NULL) {
            continue;
        }
        w.self = taper_is_of_root(compilation, w.graph) && w.graph->body->param_count != 0 ? &w.graph->body->params[0]
                                                                                           : NULL;
        status = walk_graph(&w);
    }
    taper_free(compilation->allocator, (void *)w.work, w.capacity * sizeof *w.work);
    if (status != TAPER_OK) {
        taper_written_storages_free(compilation);
    }
    return status;
}

static bool is_written(const taper_written_storages *written, taper_val value, int depth, int *looks)
{
    if (!taper_val_is_object(value)) {
        return false;
    }
    const void *item = value.tag == TAPER_TENSOR ? (const void *)value.as.tensor->storage : (const void *)value.as.obj;
    if (depth > 4 || --*looks < 0 || taper_pointer_find(&written->items, item) != NULL) {
        return true;
    }
    const taper_val *items = NULL;
    size_t count = 0;
    if (value.tag == TAPER_LIST) {
        items = value.as.list->items;
        count = value.as.list->count;
    } else if (value.tag == TAPER_TUPLE) {
        items = value.as.tuple->items;
        count = value.as.tuple->count;
    } else if (value.tag == TAPER_DICT) {
        items = value.as.dict->entries;
        count = 2 * value.as.dict->count;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_written(written, items[i], depth + 1, looks)) {
            return true;
        }
    }
    return false;
}

bool taper_is_written(const taper_compilation *compilation, taper_val value)
{
    const taper_written_storages *written = compilation->written;
    int looks = 10000; // largest number of values visited, because a file's lists may contain each other many times
    return written == NULL || written->all || is_written(written, value, 0, &looks);
}

void taper_written_storages_free(taper_compilation *compilation)
{
    if (compilation->written != NULL) {
        taper_pointer_free(compilation->allocator, &compilation->written->items);
        taper_free(compilation->allocator, compilation->written, sizeof *compilation->written);
        compilation->written = NULL;
    }
}

#endif
