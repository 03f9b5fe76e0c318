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
    static const struct {
        const char *name;
        bool convolution, prepacked;
    } roots[] = {{"aten::conv2d", true, false},      {"aten::_convolution", true, false},
                 {"aten::convolution", true, false}, {"prepacked::conv2d_clamp_run", true, true},
                 {"aten::linear", false, false},     {"prepacked::linear_clamp_run", false, true}};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        if (taper_node_is(node, roots[i].name) && node->output_count == 1) {
            c->convolution = roots[i].convolution;
            c->prepacked = roots[i].prepacked;
            return true;
        }
    }
    return false;
}

static bool take_norm(chain *c, taper_node *node, size_t position)
{
    const taper_val *training = taper_node_constant_in(node, 5);
    double eps;
    if (!c->convolution || c->prepacked || c->norm != NULL || c->summand != NULL || position != 0 ||
        !taper_node_is(node, "aten::batch_norm") || training == NULL || training->tag != TAPER_BOOLEAN ||
        training->as.b || !taper_node_constant_is_number(node, 7, &eps)) {
        return false;
    }
    c->norm = node;
    c->fusion.norm_eps = eps;
    return true;
}

static bool take_sum(chain *c, taper_node *node, size_t position)
{
    const bool relu = taper_node_is(node, "aten::_add_relu.Tensor") || taper_node_is(node, "aten::_add_relu_.Tensor");
    const bool in_place = taper_node_is(node, "aten::add_.Tensor") || taper_node_is(node, "aten::_add_relu_.Tensor");
    double alpha;
    if (c->summand != NULL || position > 1 || (in_place && position != 0) ||
        !(relu || in_place || taper_node_is(node, "aten::add.Tensor")) ||
        !taper_node_constant_is_number(node, 2, &alpha) || alpha != 1.0 ||
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

// Bounds that stand at inputs low and high; None is no bound. Without either, or with one that is no float, the
// operator raises.
static bool take_bounds(chain *c, const taper_node *node, size_t low, size_t high)
{
    double number;
    const size_t at[2] = {low, high};
    float bounds[2] = {-INFINITY, INFINITY};
    bool any = false;
    for (size_t i = 0; i < 2; i++) {
        if (at[i] >= node->input_count) {
            continue;
        }
        const taper_val *value = taper_node_constant_in(node, at[i]);
        if (value == NULL) {
            return false;
        }
        if (value->tag != TAPER_NONE) {
            if (!taper_node_constant_is_number(node, at[i], &number) || (fabs(number) > FLT_MAX && !isinf(number))) {
                return false;
            }
            bounds[i] = (float)number;
            any = true;
        }
    }
    if (!any || !(bounds[0] <= bounds[1])) {
        return false;
    }
    c->fusion.min = bounds[0];
    c->fusion.max = bounds[1];
    return true;
}

static bool take_activation(chain *c, const taper_node *node, size_t position)
{
    static const struct {
        const char *name;
        taper_activation activation;
    } functions[] = {{"aten::hardswish", TAPER_ACTIVATION_HARDSWISH},
                     {"aten::hardswish_", TAPER_ACTIVATION_HARDSWISH},
                     {"aten::hardsigmoid", TAPER_ACTIVATION_HARDSIGMOID},
                     {"aten::hardsigmoid_", TAPER_ACTIVATION_HARDSIGMOID},
                     {"aten::silu", TAPER_ACTIVATION_SILU},
                     {"aten::silu_", TAPER_ACTIVATION_SILU},
                     {"aten::sigmoid", TAPER_ACTIVATION_SIGMOID},
                     {"aten::sigmoid_", TAPER_ACTIVATION_SIGMOID},
                     {"aten::tanh", TAPER_ACTIVATION_TANH},
                     {"aten::tanh_", TAPER_ACTIVATION_TANH}};
    if (position != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (taper_node_is(node, functions[i].name) && node->input_count == 1) {
            c->fusion.activation = functions[i].activation;
            return true;
        }
    }
    if (taper_node_is(node, "aten::gelu")) {
        const taper_val *approximate = taper_node_constant_in(node, 1);
        if (node->input_count == 1 || (approximate != NULL && taper_val_string_is(*approximate, "none"))) {
            c->fusion.activation = TAPER_ACTIVATION_GELU;
            return true;
        }
        return false;
    }
    if (taper_node_is(node, "aten::relu") || taper_node_is(node, "aten::relu_")) {
        c->fusion.min = 0;
        return true;
    }
    if (taper_node_is(node, "aten::relu6") || taper_node_is(node, "aten::relu6_")) {
        c->fusion.min = 0;
        c->fusion.max = 6;
        return true;
    }
    if (taper_node_is(node, "aten::hardtanh") || taper_node_is(node, "aten::hardtanh_") ||
        taper_node_is(node, "aten::clamp") || taper_node_is(node, "aten::clamp_")) {
        return strstr(node->op_name, ".out") == NULL && strstr(node->op_name, "Tensor?") == NULL &&
               take_bounds(c, node, 1, 2);
    }
    return false;
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
    // What may raise in between stays behind the root.
    for (taper_node *node = root->next, *next, *after = fused; node != fused; node = next) {
        next = node->next;
        if (!in_chain(c, node) && !taper_node_is_pure(node)) {
            taper_node_move_after(node, after);
            after = node;
        }
    }
    taper_value_replace_uses(&last->outputs[0], &fused->outputs[0]);
    for (size_t i = 0; i < c->count; i++) {
        taper_node_move(c->nodes[i], fused->blocks[1]);
    }
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
