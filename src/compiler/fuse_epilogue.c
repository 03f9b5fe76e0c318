// SPDX-License-Identifier: BSD-2-Clause
// A convolution or linear layer with the batch norm, sum and activation that follow it becomes one FUSED node
// (ops/call/fusion.h), which holds the nodes it stands for as its fallback. A chain is taken where every value on the
// way has one user and nothing in between has an effect.
#include <float.h>
#include <math.h>

#include "compiler/pass.h"

enum { MOST_NODES = 5 };

typedef struct chain {
    taper_node *nodes[MOST_NODES]; // the root first
    size_t count;
    taper_node *norm;
    taper_ir_value *summand;
    bool activated, convolution, prepacked;
    taper_fusion fusion;
} chain;

static bool is_root(const taper_node *node, chain *c)
{
    const uint64_t facts = taper_node_facts(node);
    const unsigned layer = TAPER_FIELD(facts, LAYER), packer = TAPER_FIELD(facts, PACKER);
    c->prepacked = (facts & TAPER_OP_PACKED) != 0;
    c->convolution = layer == TAPER_LAYER_CONV2 || layer == TAPER_LAYER_CONV;
    return (c->convolution || layer == TAPER_LAYER_LINEAR) && (facts & TAPER_OP_PACKS) == 0 &&
           (packer == TAPER_PACKER_NONE || packer == TAPER_PACKER_XNNPACK) && node->output_count == 1;
}

static bool take_norm(chain *c, taper_node *node, size_t position)
{
    const taper_val *training = taper_node_constant_in(node, 5);
    double eps;
    if (!c->convolution || c->prepacked || c->norm != NULL || c->summand != NULL || position != 0 ||
        TAPER_FIELD(taper_node_facts(node), LAYER) != TAPER_LAYER_BATCH_NORM || training == NULL ||
        training->tag != TAPER_BOOLEAN || training->as.b || !taper_node_constant_is_number(node, 7, &eps)) {
        return false;
    }
    c->norm = node;
    c->fusion.norm_eps = eps;
    return true;
}

static bool take_sum(chain *c, taper_node *node, size_t position)
{
    const unsigned function = TAPER_FIELD(taper_node_facts(node), FUNCTION);
    const bool relu = function == TAPER_FUNCTION_ADD_RELU;
    double alpha;
    if ((function != TAPER_FUNCTION_ADD && !relu) || c->summand != NULL || position > 1 ||
        (node->schema->in_place && position != 0) || !taper_node_constant_is_number(node, 2, &alpha) || alpha != 1.0 ||
        taper_node_in(node, 0) == taper_node_in(node, 1)) {
        return false;
    }
    c->summand = taper_node_in(node, 1 - position);
    if (relu) {
        c->activated = true;
        c->fusion.min = 0;
    }
    return true;
}

static bool take_activation(chain *c, const taper_node *node, size_t position)
{
    static const int8_t activations[] = {[TAPER_FUNCTION_RELU] = 1 + TAPER_ACTIVATION_CLAMP,
                                         [TAPER_FUNCTION_RELU6] = 1 + TAPER_ACTIVATION_CLAMP,
                                         [TAPER_FUNCTION_CLAMP] = 1 + TAPER_ACTIVATION_CLAMP,
                                         [TAPER_FUNCTION_HARDSWISH] = 1 + TAPER_ACTIVATION_HARDSWISH,
                                         [TAPER_FUNCTION_HARDSIGMOID] = 1 + TAPER_ACTIVATION_HARDSIGMOID,
                                         [TAPER_FUNCTION_SILU] = 1 + TAPER_ACTIVATION_SILU,
                                         [TAPER_FUNCTION_SIGMOID] = 1 + TAPER_ACTIVATION_SIGMOID,
                                         [TAPER_FUNCTION_GELU] = 1 + TAPER_ACTIVATION_GELU,
                                         [TAPER_FUNCTION_TANH] = 1 + TAPER_ACTIVATION_TANH};
    const unsigned function = TAPER_FIELD(taper_node_facts(node), FUNCTION);
    if (position != 0 || function >= sizeof activations / sizeof *activations || activations[function] == 0) {
        return false;
    }
    c->fusion.activation = (taper_activation)(activations[function] - 1);
    if (c->fusion.activation == TAPER_ACTIVATION_CLAMP) {
        double bounds[2];
        if (!taper_node_bounds(node, bounds) || !(bounds[0] <= bounds[1])) {
            return false;
        }
        c->fusion.min = (float)bounds[0];
        c->fusion.max = (float)bounds[1];
        return true;
    }
    if (c->fusion.activation == TAPER_ACTIVATION_GELU && node->input_count > 1) {
        const taper_val *approximate = taper_node_constant_in(node, 1);
        return approximate != NULL && taper_val_string_is(*approximate, "none");
    }
    return node->input_count == 1;
}

static bool is_out_form(const taper_node *node)
{
    return node->schema->out_count != 0;
}

// The node that alone uses the chain's value, in the same block.
static taper_node *only_user(const chain *c, size_t *position)
{
    const taper_node *last = c->nodes[c->count - 1];
    const taper_ir_value *value = &last->outputs[0];
    if (!taper_value_used_once(value) || value->uses->user == NULL || value->uses->user->block != last->block ||
        value->uses->user->kind != TAPER_NODE_OP) {
        return NULL;
    }
    *position = value->uses->index;
    return value->uses->user;
}

static bool in_chain(const chain *c, const taper_node *node)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->nodes[i] == node) {
            return true;
        }
    }
    return false;
}

// Computing the chain at the place of `last` instead of the root's must make no difference.
static bool nothing_between(const chain *c, const taper_node *last)
{
    for (const taper_node *node = c->nodes[0]->next; node != last; node = node->next) {
        if (node == NULL) {
            return false;
        }
        // A check in between that raises is moved behind (build).
        const bool check = node->output_count == 0 && taper_node_only_raises(node);
        if (!in_chain(c, node) && !check && !taper_node_is_pure(node)) {
            return false;
        }
    }
    return true;
}

static void extend(chain *c)
{
    while (c->count < MOST_NODES && !c->activated) {
        size_t position = 0;
        taper_node *node = only_user(c, &position);
        if (node == NULL || is_out_form(node)) {
            return;
        }
        chain next = *c;
        if (!take_norm(&next, node, position) && !take_sum(&next, node, position)) {
            if (!take_activation(&next, node, position)) {
                return;
            }
            next.activated = true;
        }
        if (!nothing_between(&next, node)) {
            return;
        }
        next.nodes[next.count++] = node;
        *c = next;
    }
}

// Of a check that is one operator: those with blocks are made such before (check_ranks).
static taper_status copy_check(taper_compilation *compilation, const taper_node *check, taper_block *block)
{
    taper_node *copy;
    if (!taper_node_has(check, TAPER_OP_RAISES)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_node_create(block->graph, TAPER_NODE_OP, check->input_count, check->output_count, &copy,
                                compilation->error));
    taper_node_set_op(copy, check->op, check->schema);
    copy->debug = check->debug;
    copy->instruction = check->instruction;
    taper_node_append(block, copy);
    for (size_t i = 0; i < check->input_count; i++) {
        taper_node_set_input(copy, i, taper_node_in(check, i));
    }
    return TAPER_OK;
}

static taper_status build(taper_compilation *compilation, chain *c)
{
    taper_node *root = c->nodes[0], *last = c->nodes[c->count - 1];
    taper_graph *graph = root->block->graph;
    const size_t inputs = root->input_count + (c->norm != NULL ? 4 : 0) + (c->summand != NULL ? 1 : 0);
    taper_node *fused;
    taper_fusion *fusion = taper_arena_alloc(&graph->arena, sizeof *fusion);
    if (fusion == NULL) {
        return taper_fail_memory(compilation->error);
    }
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_FUSED, inputs, 1, &fused, compilation->error));
    *fusion = c->fusion;
    taper_node_insert_before(fused, last);
    size_t at = 0;
    for (; at < root->input_count; at++) {
        taper_node_set_input(fused, at, taper_node_in(root, at));
    }
    if (c->norm != NULL) {
        fusion->norm_at = (uint32_t)at;
        for (size_t i = 0; i < 4; i++) { // weight, bias, mean, variance
            taper_node_set_input(fused, at++, taper_node_in(c->norm, 1 + i));
        }
    }
    if (c->summand != NULL) {
        fusion->add_at = (uint32_t)at;
        taper_node_set_input(fused, at++, c->summand);
    }
    fused->op = root->op;
    fused->op_name = root->op_name;
    fused->schema = root->schema;
    fused->fusion = fusion;
    fused->debug = root->debug;
    fused->instruction = root->instruction;
    fused->block_count = 2;
    TAPER_TRY(taper_block_create(graph, fused, 0, &fused->blocks[0], compilation->error));
    TAPER_TRY(taper_block_create(graph, fused, 0, &fused->blocks[1], compilation->error));
    taper_value_replace_uses(&last->outputs[0], &fused->outputs[0]);
    // What may raise in between stays behind the root; and, where the fallback runs, before what comes behind it there.
    taper_node *after = fused, *next;
    for (taper_node *node = root; node != fused; node = next) {
        next = node->next;
        if (in_chain(c, node)) {
            taper_node_move(node, fused->blocks[1]);
        } else if (!taper_node_is_pure(node)) {
            TAPER_TRY(copy_check(compilation, node, fused->blocks[1]));
            taper_node_move_after(node, after);
            after = node;
        }
    }
    taper_node_move(last, fused->blocks[1]);
    taper_ir_value *result = &last->outputs[0];
    return taper_block_set_results(fused->blocks[1], &result, 1, compilation->error);
}

static taper_status fuse_block(taper_compilation *compilation, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        chain c = {.nodes = {node}, .count = 1, .fusion = {.min = -INFINITY, .max = INFINITY}};
        if (node->kind != TAPER_NODE_OP || !is_root(node, &c) || is_out_form(node)) {
            for (size_t b = 0; b < node->block_count && node->kind != TAPER_NODE_FUSED; b++) {
                TAPER_TRY(fuse_block(compilation, node->blocks[b]));
            }
            continue;
        }
        extend(&c);
        if (c.count > 1) {
            while (next != NULL && in_chain(&c, next)) {
                next = next->next;
            }
            TAPER_TRY(build(compilation, &c));
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_fuse_epilogue(taper_compilation *compilation, taper_graph *graph)
{
    return fuse_block(compilation, graph->body);
}
