// SPDX-License-Identifier: BSD-2-Clause
// Replaces requests for gradients by the nodes that compute them. Runs are then not recorded on a tape, the gradients
// are planned and optimized like other nodes, and layers may run on a device. Either all requests of a model are
// replaced or none, because a model with a request that remains records all its runs.
#include "compiler/differentiate.h"

#include "base/charge.h"
#include "ops/list/op_table.h"

enum {
    MOST_ASKS = 16,  // largest number of requests of a model
    MOST_USES = 256, // largest number of uses of a container that are read
    // Largest number of rounds of replacing operators by compositions, which may contain compositions again.
    MOST_COMPOSITIONS = 8,
    MOST_NODES = 1 << 16 // largest number of nodes of a graph with a request
};

typedef struct asks {
    taper_compilation *compilation;
    taper_node *nodes[MOST_ASKS];
    taper_ir_value *made[MOST_ASKS];
    taper_node
        *before[MOST_ASKS]; // for each request: the node before all nodes that were made for the request, or NULL
    size_t count;
    bool declined;
} asks;

static bool is_parameter(const taper_ir_value *value)
{
    return value->node == NULL && value->block->parent == NULL;
}

// Returns true for a tensor from outside, whose flag requires_grad says whether the tensor needs a gradient: a
// parameter, a constant, or an item of a container from outside to which the graph adds nothing.
static bool has_flag(const taper_ir_value *value)
{
    const taper_node *const node = value->node;
    if (is_parameter(value) || (node != NULL && node->kind == TAPER_NODE_CONSTANT)) {
        return true;
    }
    if (node == NULL || !taper_node_has(node, TAPER_OP_ITEM) || !is_parameter(taper_node_in(node, 0))) {
        return false;
    }
    size_t count = 0;
    for (const taper_value_use *use = taper_node_in(node, 0)->uses; use != NULL; use = use->next) {
        if (++count > MOST_USES || use->user == NULL || use->user->kind != TAPER_NODE_OP ||
            taper_node_writes(use->user, use->index)) {
            return false;
        }
    }
    return true;
}

// Returns true for operators whose results or effects depend on what a run records on the tape.
static bool depends_on_recording(const taper_node *node)
{
    return node->kind == TAPER_NODE_CALL || taper_node_has(node, TAPER_OP_ON_TAPE) ||
           (taper_node_calls(node, TAPER_OP(prim_requires_grad)) &&
            !has_flag(taper_ahead_root(taper_node_in(node, 0))));
}

static void find(taper_block *block, asks *all)
{
    for (taper_node *node = block->first; node != NULL && !all->declined; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            find(node->blocks[b], all);
        }
        if (taper_node_calls(node, TAPER_OP(aten_grad)) && all->count < MOST_ASKS) {
            all->nodes[all->count++] = node;
        } else {
            all->declined = all->declined || taper_node_calls(node, TAPER_OP(aten_grad)) || depends_on_recording(node);
        }
    }
}

static const taper_node *list_at(const taper_node *node, size_t index)
{
    const taper_node *const list = taper_node_in(node, index)->node;
    return list != NULL && list->kind == TAPER_NODE_LIST && list->block == node->block ? list : NULL;
}

// Reads the arguments of a request.
static void read_request(taper_ahead *a)
{
    bool creates, keeps;
    a->outputs = list_at(a->ask, 0);
    a->inputs = list_at(a->ask, 1);
    a->grads_given = list_at(a->ask, 2);
    const taper_val *const none = taper_node_constant_in(a->ask, 2);
    if (a->outputs == NULL || a->inputs == NULL ||
        (a->grads_given == NULL && (none == NULL || none->tag != TAPER_NONE))) {
        taper_ahead_decline(a, "its arguments are not lists of the same block");
    }
    if (!taper_ahead_read_flags(a->ask, &creates, &keeps) ||
        !taper_ahead_read_flag(a->ask, 5, false, &a->allows_unused)) {
        taper_ahead_decline(a, "its flags are not constant");
    }
}

static taper_status prepare(taper_ahead *a)
{
    const taper_graph *const graph = a->block->graph;
    a->value_count = graph->value_count;
    a->facts = taper_arena_array(a->arena, a->value_count, sizeof *a->facts);
    a->grads = taper_arena_array(a->arena, a->value_count, sizeof(taper_ir_value *));
    a->shapes = taper_arena_array(a->arena, a->value_count, sizeof(taper_ir_value *));
    if (a->facts == NULL || a->grads == NULL || a->shapes == NULL) {
        return taper_fail_memory(a->compilation->error);
    }
    TAPER_TRY(taper_charge(a->compilation->allocator, 8 * (uint64_t)a->value_count, a->compilation->error));
    TAPER_TRY(taper_aliases_create(graph, &a->aliases, a->compilation->error));
    a->written = taper_arena_array(a->arena, taper_aliases_count(a->aliases), sizeof *a->written);
    return a->written != NULL ? TAPER_OK : taper_fail_memory(a->compilation->error);
}

// Replaces calls of operators whose gradients come from a composition of other operators by this composition.
static taper_status compose(taper_ahead *a)
{
    for (taper_node *node = a->block->first, *next; node != a->ask && a->why == NULL; node = next) {
        next = node->next;
        const taper_gradient *const gradient =
            node->kind == TAPER_NODE_OP && node->output_count != 0 ? taper_gradient_find(node->op) : NULL;
        if (gradient != NULL && taper_gradient_is_composed(gradient) &&
            taper_ahead_wanted(a, node, TAPER_AHEAD_NEEDS) != 0) {
            TAPER_TRY(taper_ahead_compose(a, node));
        }
    }
    return TAPER_OK;
}

static taper_status examine(asks *all, size_t at, taper_arena *arena)
{
    taper_status status = TAPER_OK;
    for (size_t turn = 0; status == TAPER_OK; turn++) {
        taper_ahead a = {
            .compilation = all->compilation, .arena = arena, .ask = all->nodes[at], .block = all->nodes[at]->block};
        read_request(&a);
        if (a.block->graph->node_count > MOST_NODES || turn == MOST_COMPOSITIONS) {
            taper_ahead_decline(&a, "the graph is too large");
        }
        status = a.why == NULL ? prepare(&a) : TAPER_OK;
        status = status == TAPER_OK && a.why == NULL ? taper_ahead_find_paths(&a) : status;
        const bool composes = a.composes && a.why == NULL;
        if (status == TAPER_OK && a.why == NULL) {
            status = composes ? compose(&a) : taper_ahead_make_nodes(&a);
        }
        if (a.aliases != NULL) {
            taper_aliases_destroy(a.aliases);
        }
        all->declined = all->declined || a.why != NULL;
        all->made[at] = a.made;
        all->before[at] = a.before;
        if (!composes || a.why != NULL) {
            break;
        }
    }
    return status;
}

// Removes the nodes that were made for a request, the last one first.
static void remove_made(const taper_node *before, const taper_node *ask)
{
    while (before != NULL && ask->previous != before) {
        taper_node_remove(ask->previous);
    }
}

taper_status taper_pass_differentiate(taper_compilation *compilation, taper_graph *graph)
{
    (void)graph; // the first call examines all graphs
    if (!compilation->takes_gradients || compilation->keeps_gradients || compilation->differentiated) {
        return TAPER_OK;
    }
    compilation->differentiated = true;
    asks all = {.compilation = compilation};
    for (size_t g = 0; g < compilation->count; g++) {
        if (compilation->graphs[g] != NULL) {
            find(compilation->graphs[g]->body, &all);
        }
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < all.count && status == TAPER_OK && !all.declined; i++) {
        taper_arena arena;
        taper_arena_init(&arena, compilation->allocator);
        status = examine(&all, i, &arena);
        taper_arena_free(&arena);
    }
    for (size_t i = 0; i < all.count && status == TAPER_OK; i++) {
        if (all.declined) {
            remove_made(all.before[i], all.nodes[i]);
        } else {
            taper_value_replace_uses(&all.nodes[i]->outputs[0], all.made[i]);
            taper_node_remove(all.nodes[i]);
        }
    }
    compilation->takes_gradients = status != TAPER_OK || all.declined;
    return status;
}
