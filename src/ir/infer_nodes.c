// SPDX-License-Identifier: BSD-2-Clause
// Collects the known facts about calls and about nodes of graphs, which the shape rules need.
#include "ir/infer.h"

void taper_know_shape(taper_known_call *call, const taper_shape *shape)
{
    if (call->count == TAPER_KNOWN_ARGUMENTS) {
        return;
    }
    taper_known *known = &call->args[call->count++];
    *known = (taper_known){.kind = TAPER_KNOWN_TENSOR, .shapes = &call->shapes[call->shape_count], .count = 1};
    call->shapes[call->shape_count++] = *shape; // there is always space for one shape per argument
}

static void know_list(taper_known_call *call, const taper_list *list, taper_known *known)
{
    if (list->count == 0) {
        *known = (taper_known){.kind = TAPER_KNOWN_INTS, .ints = call->ints};
        return;
    }
    if (list->items[0].tag == TAPER_TENSOR && call->shape_count + list->count <= TAPER_KNOWN_ITEMS) {
        *known = (taper_known){
            .kind = TAPER_KNOWN_TENSORS, .shapes = &call->shapes[call->shape_count], .count = list->count};
        for (size_t i = 0; i < list->count; i++) {
            if (list->items[i].tag != TAPER_TENSOR) {
                known->kind = TAPER_KNOWN_NOTHING;
                return;
            }
            call->shapes[call->shape_count++] = taper_shape_of(list->items[i].as.tensor);
        }
    } else if (list->items[0].tag == TAPER_INT && list->count <= TAPER_MAX_RANK) {
        *known = (taper_known){.kind = TAPER_KNOWN_INTS, .ints = &call->ints[call->int_count], .count = list->count};
        for (size_t i = 0; i < list->count; i++) {
            call->ints[call->int_count++] = list->items[i].tag == TAPER_INT ? list->items[i].as.i : TAPER_UNKNOWN;
        }
    } else if (list->items[0].tag == TAPER_DOUBLE) {
        *known = (taper_known){.kind = TAPER_KNOWN_VALUE, .value = TAPER_VAL((taper_list *)(uintptr_t)list)};
    }
}

void taper_know_val(taper_known_call *call, taper_val value)
{
    if (value.tag == TAPER_TENSOR) {
        const taper_shape shape = taper_shape_of(value.as.tensor);
        taper_know_shape(call, &shape);
        return;
    }
    if (call->count == TAPER_KNOWN_ARGUMENTS) {
        return;
    }
    taper_known *known = &call->args[call->count++];
    *known = (taper_known){.kind = TAPER_KNOWN_NOTHING};
    if (value.tag == TAPER_NONE) {
        known->kind = TAPER_KNOWN_NONE;
    } else if (value.tag == TAPER_LIST) {
        know_list(call, value.as.list, known);
    } else {
        *known = (taper_known){.kind = TAPER_KNOWN_VALUE, .value = value};
    }
}

static bool holds(const taper_shapes *shapes, const taper_ir_value *value)
{
    return value->id >= shapes->first && value->id - shapes->first < shapes->count;
}

// Returns true if a fact about the value as a tensor is known. If no such fact is known, the value need not be a
// tensor.
static bool is_tensor(const taper_shape *shape)
{
    return shape->rank >= 0 || shape->dtype >= 0 || shape->like != NULL;
}

taper_shape taper_shapes_get(const taper_shapes *shapes, const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    if (constant != NULL && constant->constant.tag == TAPER_TENSOR) {
        return taper_shape_of(constant->constant.as.tensor);
    }
    return holds(shapes, value) ? shapes->of[value->id - shapes->first] : taper_shape_unknown();
}

// Returns true if a list has its original items at every use: no operator changes it or hands it on. The graph may
// return it.
static bool stays_as_made(const taper_node *list)
{
    enum { MOST = 64 }; // largest number of users that are read
    size_t count = 0;
    for (const taper_value_use *use = list->outputs[0].uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        if (++count > MOST || (user == NULL && use->block != list->block->graph->body)) {
            return false;
        }
        if (user == NULL || user->kind == TAPER_NODE_LIST_UNPACK) {
            continue;
        }
        const taper_schema *schema = user->kind == TAPER_NODE_OP ? user->schema : NULL;
        if (schema == NULL || use->index >= schema->arg_count || schema->args[use->index].alias != 0 ||
            taper_op_has(user->op, TAPER_OP_EFFECT)) {
            return false;
        }
        for (size_t i = 0; i < schema->ret_count;
             i++) { // false for results of other types, because such a result could be or contain the list
            const uint8_t kind = schema->rets[i].type->kind;
            if (kind != TAPER_TYPE_TENSOR && kind != TAPER_TYPE_INT && kind != TAPER_TYPE_FLOAT &&
                kind != TAPER_TYPE_BOOL && kind != TAPER_TYPE_STRING) {
                return false;
            }
        }
    }
    return true;
}

// Records a list of ints, of which only some may be known.
static bool know_numbers(const taper_node *list, taper_known_call *call)
{
    if (list->type == NULL || !taper_type_equal(list->type, &taper_type_list_int) ||
        list->input_count > TAPER_MAX_RANK || !stays_as_made(list)) {
        return false;
    }
    call->args[call->count++] =
        (taper_known){.kind = TAPER_KNOWN_INTS, .ints = &call->ints[call->int_count], .count = list->input_count};
    for (size_t i = 0; i < list->input_count; i++) {
        const taper_val *number = taper_node_constant_in(list, i);
        call->ints[call->int_count++] = number != NULL && number->tag == TAPER_INT ? number->as.i : TAPER_UNKNOWN;
    }
    return true;
}

// Records the items of a list that the graph makes, if all of them are tensors or all are numbers.
static bool know_items(const taper_shapes *shapes, const taper_ir_value *value,
                       const taper_val *(*arg)(void *user, const taper_node *node, size_t at), void *user,
                       taper_known_call *call)
{
    const taper_node *list = value->node;
    if (list == NULL || list->kind != TAPER_NODE_LIST || list->input_count == 0 ||
        call->count == TAPER_KNOWN_ARGUMENTS || call->shape_count + list->input_count > TAPER_KNOWN_ITEMS) {
        return false;
    }
    if (arg == NULL && know_numbers(list, call)) {
        return true;
    }
    // Lists in segments are only passed from one node to the next, so they never change.
    if (arg == NULL && !stays_as_made(list)) {
        return false;
    }
    taper_known known = {
        .kind = TAPER_KNOWN_TENSORS, .shapes = &call->shapes[call->shape_count], .count = list->input_count};
    for (size_t i = 0; i < list->input_count; i++) {
        const taper_val *given = arg != NULL ? arg(user, list, i) : NULL;
        const taper_shape shape = given != NULL && given->tag == TAPER_TENSOR
                                      ? taper_shape_of(given->as.tensor)
                                      : taper_shapes_get(shapes, taper_node_in(list, i));
        if (!is_tensor(&shape)) {
            return false;
        }
        call->shapes[call->shape_count + i] = shape;
    }
    call->shape_count += list->input_count;
    call->args[call->count++] = known;
    return true;
}

// Returns the size of result i of chunk(x, n), split(x, n) or split(x, [n, …]) in a dimension of `size` elements.
static int64_t piece_size(const taper_node *pieces, int64_t size, size_t i)
{
    const taper_val *how = pieces->input_count > 1 ? taper_node_constant_in(pieces, 1) : NULL;
    const taper_node *list = how == NULL && pieces->input_count > 1 ? taper_node_in(pieces, 1)->node : NULL;
    if (list != NULL && list->kind == TAPER_NODE_LIST) { // the argument is a list of sizes
        how = i < list->input_count ? taper_node_constant_in(list, i) : NULL;
        return how != NULL && how->tag == TAPER_INT ? how->as.i : TAPER_UNKNOWN;
    }
    if (size == TAPER_UNKNOWN || how == NULL) {
        return TAPER_UNKNOWN;
    }
    if (how->tag == TAPER_LIST) {
        const taper_list *sizes = how->as.list;
        return i < sizes->count && sizes->items[i].tag == TAPER_INT ? sizes->items[i].as.i : TAPER_UNKNOWN;
    }
    if (how->tag != TAPER_INT || how->as.i < 1) {
        return TAPER_UNKNOWN;
    }
    const bool chunks = strcmp(pieces->schema->args[1].name, "chunks") == 0;
    const int64_t each = chunks ? size / how->as.i + (size % how->as.i != 0) : how->as.i;
    if (each < 1 || (int64_t)i > size / each) {
        return TAPER_UNKNOWN;
    }
    const int64_t rest = size - (int64_t)i * each;
    return rest < each ? rest : each;
}

// Learns the shapes of the values into which a list of chunks is unpacked.
static void learn_pieces(taper_shapes *shapes, const taper_node *node)
{
    const taper_node *pieces = taper_node_in(node, 0)->node;
    const unsigned rule = pieces != NULL && pieces->kind == TAPER_NODE_OP
                              ? TAPER_FIELD(taper_op_facts(pieces->op), SHAPE)
                              : TAPER_SHAPE_UNKNOWN;
    if ((rule != TAPER_SHAPE_PIECES && rule != TAPER_SHAPE_UNBIND) || !holds(shapes, &pieces->outputs[0])) {
        return;
    }
    const taper_shape common = shapes->of[pieces->outputs[0].id - shapes->first],
                      x = taper_shapes_get(shapes, taper_node_in(pieces, 0));
    const taper_val *dim = pieces->input_count > 2 ? taper_node_constant_in(pieces, 2) : NULL;
    int64_t d = pieces->input_count <= 2 ? 0 : dim != NULL && dim->tag == TAPER_INT ? dim->as.i : INT64_MIN;
    d += d < 0 && x.rank >= 0 ? x.rank : 0; // dimension in which the chunks differ
    for (size_t i = 0; i < node->output_count; i++) {
        if (!holds(shapes, &node->outputs[i])) {
            continue;
        }
        taper_shape *shape = &shapes->of[node->outputs[i].id - shapes->first];
        *shape = common;
        if (rule == TAPER_SHAPE_PIECES && d >= 0 && d < shape->rank && x.rank == shape->rank &&
            shape->sizes[d] == TAPER_UNKNOWN) {
            shape->sizes[d] = piece_size(pieces, x.sizes[d], i);
        }
    }
}

void taper_shapes_learn(taper_shapes *shapes, const taper_node *node,
                        const taper_val *(*arg)(void *user, const taper_node *node, size_t at), void *user)
{
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        learn_pieces(shapes, node);
        return;
    }
    if (node->kind != TAPER_NODE_OP || node->output_count == 0 || !holds(shapes, &node->outputs[0])) {
        return;
    }
    taper_known_call call;
    call.count = call.shape_count = call.int_count = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        const taper_node *constant = taper_value_constant(value);
        const taper_val *given = arg != NULL ? arg(user, node, i) : NULL;
        if (given != NULL || constant != NULL) {
            taper_know_val(&call, given != NULL ? *given : constant->constant);
        } else if (holds(shapes, value) && is_tensor(&shapes->of[value->id - shapes->first])) {
            taper_know_shape(&call, &shapes->of[value->id - shapes->first]);
        } else if (know_items(shapes, value, arg, user, &call)) {
            continue;
        } else if (call.count < TAPER_KNOWN_ARGUMENTS) {
            call.args[call.count++] = (taper_known){.kind = TAPER_KNOWN_NOTHING};
        }
    }
    shapes->of[node->outputs[0].id - shapes->first] = call.count == node->input_count
                                                          ? taper_infer(node->op, node->schema, call.args, call.count)
                                                          : taper_shape_unknown();
    for (size_t i = 1; i < node->output_count && call.count == node->input_count; i++) {
        if (holds(shapes, &node->outputs[i])) {
            shapes->of[node->outputs[i].id - shapes->first] =
                taper_infer_more(node->op, node->schema, call.args, call.count, i);
        }
    }
}

static void learn_block(taper_shapes *shapes, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        taper_shapes_learn(shapes, node, NULL, NULL);
        for (size_t b = 0; b < node->block_count; b++) {
            learn_block(shapes, node->blocks[b]);
        }
    }
}

taper_shapes *taper_graph_shapes(taper_graph *graph)
{
    const size_t count = (size_t)graph->value_count + 1;
    taper_shapes *shapes = taper_arena_alloc(&graph->arena, sizeof *shapes);
    taper_shape *all = taper_arena_array(&graph->arena, count, sizeof *all);
    if (shapes == NULL || all == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = taper_shape_unknown();
    }
    *shapes = (taper_shapes){.of = all, .count = count};
    learn_block(shapes, graph->body);
    return shapes;
}
