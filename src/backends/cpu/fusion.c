// SPDX-License-Identifier: BSD-2-Clause
// Chains of nodes that the CPU runs as one: a convolution or linear layer with the batch norm, sum and activation that
// follow it. A chain is used if every value between its nodes has one user.
#include "backends/cpu/fusion.h"

#include <math.h>

#include "backends/cpu/cpu_kernels.h"
#include "ops/list/op_table.h"

enum { MOST_NODES = 5, MOST_BETWEEN = 64 };

typedef struct chain {
    const taper_node *nodes[MOST_NODES]; // nodes of the chain, the root first
    size_t count;
    bool convolution, prepacked, normed, added, activated;
} chain;

static bool is_root(const taper_node *node, chain *c)
{
    const uint64_t facts = taper_node_facts(node);
    const unsigned layer = TAPER_FIELD(facts, LAYER), packer = TAPER_FIELD(facts, PACKER);
    *c = (chain){.nodes = {node}, .count = 1};
    c->prepacked = (facts & TAPER_OP_PACKED) != 0;
    c->convolution = layer == TAPER_LAYER_CONV2 || layer == TAPER_LAYER_CONV;
    return (c->convolution || layer == TAPER_LAYER_LINEAR) && (facts & TAPER_OP_PACKS) == 0 &&
           (packer == TAPER_PACKER_NONE || packer == TAPER_PACKER_XNNPACK) && node->output_count == 1;
}

static bool is_norm(const chain *c, const taper_node *node, size_t position, double *eps)
{
    const taper_val *training = taper_node_constant_in(node, 5);
    return c->convolution && !c->prepacked && !c->normed && !c->added && position == 0 &&
           TAPER_FIELD(taper_node_facts(node), LAYER) == TAPER_LAYER_BATCH_NORM && training != NULL &&
           training->tag == TAPER_BOOLEAN && !training->as.b && taper_node_constant_is_number(node, 7, eps);
}

static bool is_sum(const chain *c, const taper_node *node, size_t position)
{
    const unsigned function = TAPER_FIELD(taper_node_facts(node), FUNCTION);
    double alpha;
    return (function == TAPER_FUNCTION_ADD || function == TAPER_FUNCTION_ADD_RELU) && !c->added && position <= 1 &&
           !(node->schema->in_place && position != 0) && taper_node_constant_is_number(node, 2, &alpha) &&
           alpha == 1.0 && taper_node_in(node, 0) != taper_node_in(node, 1);
}

static bool is_activation(taper_fusion *f, const taper_node *node, size_t position)
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
    f->activation = (taper_activation)(activations[function] - 1);
    if (f->activation == TAPER_ACTIVATION_CLAMP) {
        double bounds[2];
        if (!taper_node_bounds(node, bounds) || !(bounds[0] <= bounds[1])) {
            return false;
        }
        f->min = (float)bounds[0];
        f->max = (float)bounds[1];
        return true;
    }
    if (f->activation == TAPER_ACTIVATION_GELU && node->input_count > 1) {
        const taper_val *approximate = taper_node_constant_in(node, 1);
        return approximate != NULL && taper_val_string_is(*approximate, "none");
    }
    return node->input_count == 1;
}

// Adds `node` to the chain if it can be fused. The chain's result is input number `position` of `node`.
static bool take(chain *c, const taper_node *node, size_t position, taper_fusion *f)
{
    double eps;
    if (is_norm(c, node, position, &eps)) {
        c->normed = true;
        f->norm_eps = eps;
    } else if (is_sum(c, node, position)) {
        c->added = true;
        if (TAPER_FIELD(taper_node_facts(node), FUNCTION) == TAPER_FUNCTION_ADD_RELU) {
            c->activated = true;
            f->min = 0;
        }
    } else if (is_activation(f, node, position)) {
        c->activated = true;
    } else {
        return false;
    }
    c->nodes[c->count++] = node;
    return true;
}

// Returns the operator that is the only user of the chain's result, or NULL if there is no such operator.
static const taper_node *only_user(const chain *c, size_t *position)
{
    const taper_ir_value *value = &c->nodes[c->count - 1]->outputs[0];
    if (!taper_value_used_once(value) || value->uses->user == NULL || value->uses->user->kind != TAPER_NODE_OP) {
        return NULL;
    }
    *position = value->uses->index;
    return value->uses->user;
}

taper_status taper_cpu_claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    (void)error;
    for (size_t i = region->from; i < region->count; i++) {
        chain c;
        taper_fusion fusion = {0};
        if (region->nodes[i] == NULL || !is_root(region->nodes[i], &c) ||
            taper_cpu_kernel(device, region->nodes[i]->op) == NULL) {
            continue;
        }
        claim->takes[0] = i;
        size_t at = i, position;
        while (c.count < MOST_NODES && !c.activated) {
            const taper_node *node = only_user(&c, &position);
            const size_t limit = node != NULL ? taper_min_size(region->count, at + MOST_BETWEEN) : at;
            do {
                at++;
            } while (at < limit && region->nodes[at] != node);
            if (at >= limit || !take(&c, node, position, &fusion)) {
                break;
            }
            claim->takes[c.count - 1] = at;
        }
        if (c.count > 1) {
            claim->count = c.count;
            claim->next = i + 1;
            return TAPER_OK;
        }
    }
    return TAPER_DECLINED;
}

// Finds in the segment the chain that was claimed, and the positions of its arguments.
taper_status taper_cpu_plan(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error)
{
    const taper_block *body = segment->node->blocks[1];
    taper_fusion *f = taper_arena_alloc(arena, sizeof *f);
    chain c;
    if (f == NULL) {
        return taper_fail_memory(error);
    }
    const taper_node *root = body->first;
    if (!is_root(root, &c)) {
        return TAPER_DECLINED;
    }
    *f = (taper_fusion){.kernel = taper_cpu_kernel(device, root->op), .min = -INFINITY, .max = INFINITY};
    uint32_t at = root->input_count;
    for (const taper_node *node = root->next; node != NULL; node = node->next) {
        size_t position;
        if (node->output_count != 0) { // true unless the node is a check, which has no output
            const bool normed = c.normed, added = c.added;
            if (node != only_user(&c, &position) || !take(&c, node, position, f)) {
                return TAPER_DECLINED; // declines if a node that was claimed cannot be fused
            }
            f->norm_at = c.normed && !normed ? at : f->norm_at;
            f->add_at = c.added && !added ? at : f->add_at;
        }
        for (size_t i = 0; i < node->input_count; i++) {
            at += taper_node_in(node, i)->block != body;
        }
    }
    if (TAPER_DEVICES && c.count == 1) { // a backend other than the CPU has claimed the other nodes of the chain
        return TAPER_DECLINED;
    }
    for (size_t i = 0; i < segment->node->input_count; i++) {
        segment->forms[i] = TAPER_FORM_HOST;
    }
    segment->plan = f;
    return TAPER_OK;
}

taper_status taper_cpu_run(const taper_segment *segment, taper_call *call, void *recording)
{
    const taper_fusion *f = segment->plan;
    (void)recording;
    call->plan = f;
    return taper_call_kernel(call, f->kernel);
}
