// SPDX-License-Identifier: BSD-2-Clause
// For `taper ops`: simplifies by constants, as PyTorch's constant propagation does. Tensors and lists are not treated
// as constants.
#include "frontend/torchscript/list.h"
#include "ops/call/fold.h"

typedef struct folding {
    taper_ts_lowering *lowering;
    size_t looks;
    bool changed;
} folding;

static bool never_runs(const taper_ir_value *trips, const taper_ir_value *condition)
{
    const taper_node *count = taper_value_constant(trips), *begin = taper_value_constant(condition);
    return (count != NULL && count->constant.tag == TAPER_INT && count->constant.as.i <= 0) ||
           (begin != NULL && begin->constant.tag == TAPER_BOOLEAN && !begin->constant.as.b);
}

static bool branch_is_known(const taper_node *node)
{
    const taper_node *condition = node->kind == TAPER_NODE_IF ? taper_value_constant(taper_node_in(node, 0)) : NULL;
    return condition != NULL && condition->constant.tag == TAPER_BOOLEAN;
}

// Replaces an If whose condition is known by the branch that is taken, or removes a loop that never runs.
static void take_branch(taper_node *node)
{
    for (size_t i = 0; node->kind == TAPER_NODE_LOOP && i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], taper_node_in(node, 2 + i));
    }
    if (node->kind == TAPER_NODE_LOOP) {
        taper_node_remove(node);
        return;
    }
    taper_block *taken = node->blocks[taper_value_constant(taper_node_in(node, 0))->constant.as.b ? 0 : 1];
    for (size_t i = 0; i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], taken->results[i].value);
    }
    taper_block_inline_before(taken, node);
    taper_node_remove(node);
}

static bool is_same_constant(const taper_ir_value *a, const taper_ir_value *b)
{
    const taper_node *one = taper_value_constant(a), *other = taper_value_constant(b);
    return a == b || (one != NULL && other != NULL && one->constant.tag == other->constant.tag &&
                      (one->constant.tag == TAPER_NONE ||
                       (one->constant.tag == TAPER_BOOLEAN && one->constant.as.b == other->constant.as.b) ||
                       (one->constant.tag == TAPER_INT && one->constant.as.i == other->constant.as.i)));
}

// If both branches of an If return the same value from outside of the If, replaces the result by that value.
static void same_results(folding *f, taper_node *node)
{
    for (size_t i = 0; node->kind == TAPER_NODE_IF && i < node->output_count; i++) {
        taper_ir_value *const then = node->blocks[0]->results[i].value;
        if (node->outputs[i].uses != NULL && is_same_constant(then, node->blocks[1]->results[i].value) &&
            (taper_value_constant(then) != NULL || then->block != node->blocks[0])) {
            taper_value_replace_uses(&node->outputs[i], then);
            f->changed = true;
        }
    }
}

static taper_status replace(folding *f, taper_node *node, taper_val result)
{
    taper_ir_value *value;
    TAPER_TRY(taper_ts_constant(f->lowering, result, &value));
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    f->changed = true;
    return TAPER_OK;
}

static taper_status fold(folding *f, taper_node *node)
{
    taper_ir_value *inputs[TAPER_FOLD_INPUTS];
    taper_val result;
    for (size_t i = 0; i < node->input_count && i < TAPER_FOLD_INPUTS; i++) {
        inputs[i] = taper_node_in(node, i);
    }
    return node->output_count == 1 &&
                   taper_ts_fold(f->lowering, node->op, node->schema, inputs, node->input_count, &result)
               ? replace(f, node, result)
               : TAPER_OK;
}

// Replaces isinstance of a constant by its result, which follows from the type of the constant.
static taper_status fold_instance(folding *f, taper_node *node)
{
    const taper_type *type = taper_ts_type_in_graph(taper_node_in(node, 0));
    bool is = false;
    if (taper_value_constant(taper_node_in(node, 0)) == NULL || type == NULL) {
        return TAPER_OK;
    }
    for (uint32_t i = 0; i < node->type_count; i++) {
        is |= taper_ts_subtype(f->lowering, type, node->types[i]);
    }
    return replace(f, node, taper_val_bool(is));
}

// Returns true for a tuple that is known to contain only constants (own.all_constant), so that its items are known.

static bool is_known_tuple(const taper_ir_value *value)
{
    return value->node != NULL && value->node->kind == TAPER_NODE_TUPLE && value->node->own.all_constant;
}

static void know_tuple(folding *f, taper_node *node)
{
    bool known = !node->own.all_constant;
    for (size_t i = 0; known && i < node->input_count; i++) {
        known = taper_value_constant(taper_node_in(node, i)) != NULL || is_known_tuple(taper_node_in(node, i));
    }
    if (known) {
        node->own.all_constant = true;
        f->changed = true;
    }
}

static void unpack_tuple(folding *f, taper_node *node)
{
    const taper_node *tuple = taper_node_in(node, 0)->node;
    if (is_known_tuple(taper_node_in(node, 0)) && tuple->input_count == node->output_count) {
        for (size_t i = 0; i < node->output_count; i++) {
            taper_value_replace_uses(&node->outputs[i], taper_node_in(tuple, i));
        }
        taper_node_remove(node);
        f->changed = true;
    }
}

static taper_status visit_from(folding *f, taper_node *node)
{
    for (taper_node *next; node != NULL; node = next, f->looks++) {
        const bool never = node->kind == TAPER_NODE_LOOP && never_runs(taper_node_in(node, 0), taper_node_in(node, 1));
        if (never || branch_is_known(node)) {
            taper_node *const before = node->previous;
            taper_block *const block = node->block;
            take_branch(node);
            f->changed = true;
            next = before != NULL ? before->next
                                  : block->first; // the nodes of the branch, now in this block, are visited next
            continue;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(visit_from(f, node->blocks[b]->first));
        }
        next = node->next;
        same_results(f, node);
        if (node->kind == TAPER_NODE_OP && node->input_count != 0) {
            TAPER_TRY(fold(f, node));
        } else if (node->kind == TAPER_NODE_ISINSTANCE) {
            TAPER_TRY(fold_instance(f, node));
        } else if (node->kind == TAPER_NODE_TUPLE) {
            know_tuple(f, node);
        } else if (node->kind == TAPER_NODE_TUPLE_UNPACK) {
            unpack_tuple(f, node);
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_list_constants(taper_ts_lowering *l, bool *changed)
{
    folding f = {.lowering = l};
    TAPER_TRY(visit_from(&f, l->graph->body->first));
    *changed = f.changed;
    return taper_ts_charge(l, f.looks);
}
