// SPDX-License-Identifier: BSD-2-Clause
// Replaces a loop that runs a small constant number of times, with a condition that is always true, by that many copies
// of its body. Inner loops are unrolled first, so the size of a body includes them. The copies share constants.
#include "compiler/pass.h"
#include "ir/graph_copy.h"

enum {
    MOST_TRIPS = 16,
    MOST_NODES = 512,  // largest number of nodes that one loop may become
    MOST_ADDED = 16384 // largest number of nodes that are added to a graph
};

typedef struct unrolling {
    taper_copier copier;
    size_t added;
} unrolling;

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

static bool is_true(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    return constant != NULL && constant->constant.tag == TAPER_BOOLEAN && constant->constant.as.b;
}

// Returns the number of iterations, or -1 if it is not constant or too large.
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

static taper_status put_trips(const taper_copier *c, taper_node *loop, int64_t trips)
{
    const taper_block *body = loop->blocks[0];
    const size_t carried = loop->output_count;
    taper_ir_value **now = taper_arena_array(&c->to->arena, carried, sizeof *now);
    if (now == NULL) {
        return taper_fail_memory(c->error);
    }
    for (size_t i = 0; i < carried; i++) {
        now[i] = taper_node_in(loop, i + 2);
    }
    for (int64_t trip = 0; trip < trips; trip++) {
        taper_ir_value *number;
        TAPER_TRY(taper_constant_before(loop, taper_val_int(trip), &number, c->error));
        taper_stands_for(c, &body->params[0], number);
        for (size_t i = 0; i < carried; i++) {
            taper_stands_for(c, &body->params[i + 1], now[i]);
        }
        for (const taper_node *node = body->first; node != NULL; node = node->next) {
            taper_node *copy;
            TAPER_TRY(taper_copy_node(c, node, &copy));
            taper_node_insert_before(copy, loop);
        }
        for (size_t i = 0; i < carried; i++) {
            now[i] = taper_copy_of(c, body->results[i + 1].value);
        }
    }
    for (size_t i = 0; i < carried; i++) {
        taper_value_replace_uses(&loop->outputs[i], now[i]);
    }
    taper_node_remove(loop);
    return TAPER_OK;
}

static taper_status unroll(unrolling *u, taper_node *loop)
{
    const int64_t trips = trips_of(loop);
    if (trips < 0) {
        return TAPER_OK;
    }
    const size_t nodes = trips == 0 ? 0 : (size_t)trips * (count_nodes(loop->blocks[0], MOST_NODES) + 1);
    if (nodes > MOST_NODES || u->added + nodes > MOST_ADDED) {
        return TAPER_OK;
    }
    u->added += nodes;
    TAPER_TRY(taper_copier_make_room(&u->copier, u->copier.to));
    return put_trips(&u->copier, loop, trips);
}

static taper_status visit_block(unrolling *u, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count && node->kind != TAPER_NODE_SEGMENT; b++) {
            TAPER_TRY(visit_block(u, node->blocks[b]));
        }
        if (node->kind == TAPER_NODE_LOOP) {
            TAPER_TRY(unroll(u, node));
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_unroll(taper_compilation *compilation, taper_graph *graph)
{
    unrolling u = {.copier = {.allocator = compilation->allocator, .to = graph, .error = compilation->error}};
    const taper_status status = visit_block(&u, graph->body);
    taper_copier_free(&u.copier);
    return status;
}
