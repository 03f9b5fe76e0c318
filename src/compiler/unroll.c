// SPDX-License-Identifier: BSD-2-Clause
// A loop whose number of trips is a small constant and whose condition is always true becomes its body, that many
// times. Inner loops first, so the size of a body counts what they became. Constants of the body are shared.
#include "compiler/pass.h"

enum {
    MOST_TRIPS = 16,
    MOST_NODES = 512,  // of one unrolled loop
    MOST_ADDED = 16384 // to a graph, beyond what it has
};

typedef struct copier {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_ir_value **values; // by id: what stands for a value of the body in this copy; NULL: itself
    size_t value_count, capacity;
    size_t added;
} copier;

static size_t count_nodes(const taper_block *block, size_t most)
{
    size_t count = 0;
    for (const taper_node *node = block->first; node != NULL && count <= most; node = node->next) {
        count++;
        for (size_t b = 0; b < node->block_count && count <= most; b++) {
            count += count_nodes(node->blocks[b], most - count);
        }
    }
    return count;
}

static taper_ir_value *copy_of(const copier *c, taper_ir_value *value)
{
    taper_ir_value *copy = value->id < c->value_count ? c->values[value->id] : NULL;
    return copy != NULL ? copy : value;
}

// What is entered for one copy is never asked for in another: it is of a body that is gone by then, or entered anew.
static void stands_for(const copier *c, const taper_ir_value *value, taper_ir_value *copy)
{
    if (value->id < c->value_count) {
        c->values[value->id] = copy;
    }
}

static taper_status make_room(copier *c)
{
    const size_t want = c->graph->value_count;
    TAPER_TRY(TAPER_GROW(c->compilation->allocator, c->values, c->capacity, want, c->compilation->error));
    memset(c->values + c->value_count, 0, (want - c->value_count) * sizeof *c->values);
    c->value_count = want;
    return TAPER_OK;
}

static taper_status copy_node(const copier *c, const taper_node *node, taper_node **made);

static taper_status copy_block(const copier *c, taper_node *parent, const taper_block *block, taper_block **made)
{
    taper_error *error = c->compilation->error;
    TAPER_TRY(taper_block_create(c->graph, parent, block->param_count, made, error));
    for (size_t i = 0; i < block->param_count; i++) {
        (*made)->params[i].type = block->params[i].type;
        stands_for(c, &block->params[i], &(*made)->params[i]);
    }
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        taper_node *copy;
        TAPER_TRY(copy_node(c, node, &copy));
        taper_node_append(*made, copy);
    }
    taper_ir_value **results = taper_arena_array(&c->graph->arena, block->result_count, sizeof *results);
    if (results == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < block->result_count; i++) {
        results[i] = copy_of(c, block->results[i].value);
    }
    return taper_block_set_results(*made, results, block->result_count, error);
}

// The graph holds the reference of a constant for as long as it lives, so a copy needs none.
static taper_status copy_node(const copier *c, const taper_node *node, taper_node **made)
{
    TAPER_TRY(taper_node_create(c->graph, (taper_node_kind)node->kind, node->input_count, node->output_count, made,
                                c->compilation->error));
    taper_node *copy = *made;
    copy->op = node->op;
    copy->op_name = node->op_name;
    copy->schema = node->schema;
    copy->type = node->type;
    copy->types = node->types;
    copy->type_count = node->type_count;
    copy->name = node->name;
    copy->constant = node->constant;
    copy->number = node->number;
    copy->number2 = node->number2;
    copy->debug = node->debug;
    copy->instruction = node->instruction;
    for (size_t i = 0; i < node->input_count; i++) {
        taper_node_set_input(copy, i, copy_of(c, taper_node_in(node, i)));
    }
    for (size_t b = 0; b < node->block_count; b++) {
        TAPER_TRY(copy_block(c, copy, node->blocks[b], &copy->blocks[b]));
        copy->block_count = (uint32_t)b + 1;
    }
    for (size_t i = 0; i < node->output_count; i++) {
        copy->outputs[i].type = node->outputs[i].type;
        stands_for(c, &node->outputs[i], &copy->outputs[i]);
    }
    return TAPER_OK;
}

static bool is_true(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    return constant != NULL && constant->constant.tag == TAPER_BOOLEAN && constant->constant.as.b;
}

// How often the loop runs; -1: that is not known, or too often.
static int64_t trips_of(const taper_node *loop)
{
    const taper_val *most = taper_node_constant_in(loop, 0), *condition = taper_node_constant_in(loop, 1);
    if (condition == NULL || condition->tag != TAPER_BOOLEAN || most == NULL || most->tag != TAPER_INT) {
        return -1;
    }
    if (!condition->as.b || most->as.i <= 0) {
        return 0;
    }
    return most->as.i <= MOST_TRIPS && (most->as.i == 1 || is_true(loop->blocks[0]->results[0].value)) ? most->as.i
                                                                                                       : -1;
}

static taper_status put_trips(copier *c, taper_node *loop, int64_t trips)
{
    const taper_block *body = loop->blocks[0];
    const size_t carried = loop->output_count;
    taper_ir_value **now = taper_arena_array(&c->graph->arena, carried, sizeof *now);
    if (now == NULL) {
        return taper_fail_memory(c->compilation->error);
    }
    for (size_t i = 0; i < carried; i++) {
        now[i] = taper_node_in(loop, i + 2);
    }
    for (int64_t trip = 0; trip < trips; trip++) {
        taper_ir_value *number;
        TAPER_TRY(taper_constant_before(loop, taper_val_int(trip), &number, c->compilation->error));
        stands_for(c, &body->params[0], number);
        for (size_t i = 0; i < carried; i++) {
            stands_for(c, &body->params[i + 1], now[i]);
        }
        for (const taper_node *node = body->first; node != NULL; node = node->next) {
            taper_node *copy;
            TAPER_TRY(copy_node(c, node, &copy));
            taper_node_insert_before(copy, loop);
        }
        for (size_t i = 0; i < carried; i++) {
            now[i] = copy_of(c, body->results[i + 1].value);
        }
    }
    for (size_t i = 0; i < carried; i++) {
        taper_value_replace_uses(&loop->outputs[i], now[i]);
    }
    taper_node_remove(loop);
    return TAPER_OK;
}

static taper_status unroll(copier *c, taper_node *loop)
{
    const int64_t trips = trips_of(loop);
    if (trips < 0) {
        return TAPER_OK;
    }
    const size_t nodes = trips == 0 ? 0 : (size_t)trips * (count_nodes(loop->blocks[0], MOST_NODES) + 1);
    if (nodes > MOST_NODES || c->added + nodes > MOST_ADDED) {
        return TAPER_OK;
    }
    c->added += nodes;
    TAPER_TRY(make_room(c));
    return put_trips(c, loop, trips);
}

static taper_status visit_block(copier *c, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count && node->kind != TAPER_NODE_SEGMENT; b++) {
            TAPER_TRY(visit_block(c, node->blocks[b]));
        }
        if (node->kind == TAPER_NODE_LOOP) {
            TAPER_TRY(unroll(c, node));
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_unroll(taper_compilation *compilation, taper_graph *graph)
{
    copier c = {.compilation = compilation, .graph = graph};
    const taper_status status = visit_block(&c, graph->body);
    taper_free(compilation->allocator, c.values, c.capacity * sizeof *c.values);
    return status;
}
