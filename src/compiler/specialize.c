// SPDX-License-Identifier: BSD-2-Clause
// Makes a graph for inputs of known sizes: what asks for sizes is answered, and what follows from the answers computed,
// so that for those who take the graph over for such inputs nothing but tensors is left.
#include "compiler/pass.h"
#include "ir/infer.h"

typedef struct specializing {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_shapes *shapes;
    bool changed;
} specializing;

// Every user reads the list, or takes it apart, or copies from it.
static bool is_only_read(const taper_ir_value *list)
{
    for (const taper_value_use *use = list->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        const bool copies =
            user != NULL && (user->kind == TAPER_NODE_LIST_UNPACK || taper_node_calls(user, TAPER_OP(aten_slice_t)));
        if (!copies && !taper_use_only_reads_list(use)) {
            return false;
        }
    }
    return true;
}

// The node's result is this constant.
static taper_status replace(specializing *s, taper_node *node, taper_val value)
{
    taper_ir_value *made;
    TAPER_TRY(taper_constant_before(node, value, &made, s->compilation->error));
    if (value.tag == TAPER_LIST) {
        made->node->number = TAPER_CONSTANT_FROZEN;
    }
    taper_value_replace_uses(&node->outputs[0], made);
    taper_node_remove(node);
    s->changed = true;
    return TAPER_OK;
}

static taper_status replace_by_ints(specializing *s, taper_node *node, const int64_t *numbers, size_t count)
{
    taper_ir_value *made;
    TAPER_TRY(taper_constant_ints_before(s->compilation, node, numbers, count, &made));
    made->node->number = TAPER_CONSTANT_FROZEN;
    taper_value_replace_uses(&node->outputs[0], made);
    taper_node_remove(node);
    s->changed = true;
    return TAPER_OK;
}

static const taper_list *constant_list(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    return constant != NULL && constant->constant.tag == TAPER_LIST && constant->number == TAPER_CONSTANT_FROZEN
               ? constant->constant.as.list
               : NULL;
}

// ---- questions

static taper_status answer(specializing *s, taper_node *node, bool *done)
{
    const bool dim = taper_node_calls(node, TAPER_OP(aten_dim)), all = taper_node_calls(node, TAPER_OP(aten_size)),
               one = taper_node_calls(node, TAPER_OP(aten_size_int));
    if (!dim && !all && !one) {
        return TAPER_OK;
    }
    const taper_shape shape = taper_shapes_get(s->shapes, taper_node_in(node, 0));
    if (shape.rank < 0) {
        return TAPER_OK;
    }
    if (dim) {
        *done = true;
        return replace(s, node, taper_val_int(shape.rank));
    }
    if (one) {
        const taper_val *number = taper_node_constant_in(node, 1);
        const int64_t at =
            number != NULL && number->tag == TAPER_INT ? number->as.i + (number->as.i < 0 ? shape.rank : 0) : -1;
        *done = at >= 0 && at < shape.rank && shape.sizes[at] != TAPER_UNKNOWN;
        return *done ? replace(s, node, taper_val_int(shape.sizes[at])) : TAPER_OK;
    }
    for (int d = 0; d < shape.rank; d++) {
        if (shape.sizes[d] == TAPER_UNKNOWN) {
            return TAPER_OK;
        }
    }
    if (!is_only_read(&node->outputs[0])) {
        return TAPER_OK;
    }
    *done = true;
    return replace_by_ints(s, node, shape.sizes, (size_t)shape.rank);
}

// ---- what follows

static taper_status slice(specializing *s, taper_node *node, bool *done)
{
    const taper_list *list = constant_list(taper_node_in(node, 0));
    int64_t numbers[3] = {0, INT64_MAX, 1}, items[TAPER_MAX_RANK];
    size_t count = 0;
    if (list == NULL || list->count > TAPER_MAX_RANK || !is_only_read(&node->outputs[0])) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        const taper_val *number = taper_node_constant_in(node, 1 + i);
        if (number == NULL || (number->tag != TAPER_INT && number->tag != TAPER_NONE)) {
            return TAPER_OK;
        }
        numbers[i] = number->tag == TAPER_INT ? number->as.i : numbers[i];
    }
    const int64_t size = (int64_t)list->count;
    for (size_t i = 0; i < 2; i++) {
        numbers[i] = numbers[i] < 0 ? numbers[i] + size : numbers[i];
        numbers[i] = numbers[i] < 0 ? 0 : numbers[i] > size ? size : numbers[i];
    }
    if (numbers[2] < 1 || numbers[2] > size) {
        return TAPER_OK;
    }
    for (int64_t i = numbers[0]; i < numbers[1]; i += numbers[2]) {
        if (list->items[i].tag != TAPER_INT) {
            return TAPER_OK;
        }
        items[count++] = list->items[i].as.i;
    }
    *done = true;
    return replace_by_ints(s, node, items, count);
}

static taper_status take_apart(specializing *s, taper_node *node, bool *done)
{
    const taper_list *list = constant_list(taper_node_in(node, 0));
    if (list == NULL || list->count != node->output_count) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (taper_val_is_object(list->items[i])) {
            return TAPER_OK;
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        taper_ir_value *made;
        TAPER_TRY(taper_constant_before(node, list->items[i], &made, s->compilation->error));
        taper_value_replace_uses(&node->outputs[i], made);
    }
    taper_node_remove(node);
    *done = s->changed = true;
    return TAPER_OK;
}

static taper_status join(specializing *s, taper_node *node, bool *done)
{
    int64_t numbers[TAPER_MAX_RANK];
    if (node->input_count > TAPER_MAX_RANK || node->input_count == 0 || !is_only_read(&node->outputs[0])) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_val *item = taper_node_constant_in(node, i);
        if (item == NULL || item->tag != TAPER_INT) {
            return TAPER_OK;
        }
        numbers[i] = item->as.i;
    }
    *done = true;
    return replace_by_ints(s, node, numbers, node->input_count);
}

// A pure operator on constants whose result is no tensor, or one of a number that traces make of sizes.
static taper_status fold(specializing *s, taper_node *node, bool *done)
{
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_val *arg = taper_node_constant_in(node, i);
        if (arg == NULL || (arg->tag == TAPER_TENSOR && arg->as.tensor->rank != 0)) {
            return TAPER_OK;
        }
    }
    TAPER_TRY(taper_fold_node(s->compilation, node, done));
    s->changed = s->changed || *done;
    return TAPER_OK;
}

static taper_status walk(specializing *s, taper_block *block);

static taper_status look_at(specializing *s, taper_node *node, bool *done)
{
    if (node->kind == TAPER_NODE_OP) {
        TAPER_TRY(answer(s, node, done));
        if (!*done && taper_node_calls(node, TAPER_OP(aten_slice_t))) {
            TAPER_TRY(slice(s, node, done));
        }
        return *done ? TAPER_OK : fold(s, node, done);
    }
    return node->kind == TAPER_NODE_LIST_UNPACK ? take_apart(s, node, done)
           : node->kind == TAPER_NODE_LIST      ? join(s, node, done)
                                                : TAPER_OK;
}

static taper_status walk(specializing *s, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        taper_node *const previous = node->previous;
        bool done = false;
        next = node->next;
        if (taper_take_branch(node)) { // its nodes stand there now
            s->changed = true;
            next = previous != NULL ? previous->next : block->first;
            continue;
        }
        TAPER_TRY(look_at(s, node, &done));
        if (done) {
            continue;
        }
        taper_shapes_learn(s->shapes, node, NULL, NULL);
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(walk(s, node->blocks[b]));
        }
    }
    return TAPER_OK;
}

taper_status taper_specialize(taper_compilation *compilation, taper_graph *graph, const taper_shape *params,
                              size_t count, taper_shapes **shapes)
{
    specializing s = {.compilation = compilation, .graph = graph};
    const size_t values = (size_t)graph->value_count + 1;
    s.shapes = taper_arena_alloc(&graph->arena, sizeof *s.shapes);
    taper_shape *all = taper_arena_array(&graph->arena, values, sizeof *all);
    if (s.shapes == NULL || all == NULL) {
        return taper_fail_memory(compilation->error);
    }
    for (size_t i = 0; i < values; i++) {
        all[i] = taper_shape_unknown();
    }
    *s.shapes = (taper_shapes){.of = all, .count = values};
    for (size_t i = 0; i < count && i < graph->body->param_count; i++) {
        all[graph->body->params[i].id] = params[i];
    }
    TAPER_TRY(walk(&s, graph->body));
    *shapes = s.shapes;
    return taper_pass_dead_code(compilation, graph);
}
