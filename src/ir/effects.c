// SPDX-License-Identifier: BSD-2-Clause
// Finds facts about a node before it runs: its effects, and constants among its arguments.
#include "ir/effects.h"

#include <float.h>
#include <math.h>

// The external definitions of inline functions, for calls that a compiler does not inline.
extern uint64_t taper_op_facts(const taper_op *op);
extern uint64_t taper_node_facts(const taper_node *node);
extern bool taper_node_has(const taper_node *node, uint64_t flag);

static bool is_none(const taper_node *node, size_t index)
{
    const taper_val *value = taper_node_constant_in(node, index);
    return value != NULL && value->tag == TAPER_NONE;
}

bool taper_node_updates_statistics(const taper_node *node)
{
    const taper_val *training = taper_node_has(node, TAPER_OP_STATISTICS) ? taper_node_constant_in(node, 5) : NULL;
    return taper_node_has(node, TAPER_OP_STATISTICS) &&
           (training == NULL || training->tag != TAPER_BOOLEAN || training->as.b) &&
           !(is_none(node, 3) && is_none(node, 4));
}

bool taper_node_is_pure(const taper_node *node)
{
    switch (node->kind) {
    case TAPER_NODE_SET_ATTR:
    case TAPER_NODE_CALL:
    case TAPER_NODE_OBJECT:
        return false;
    case TAPER_NODE_OP:
        if (taper_op_has(node->op, TAPER_OP_EFFECT | TAPER_OP_NONDETERMINISTIC)) {
            return false;
        }
        if (taper_node_updates_statistics(node)) {
            return false;
        }
        for (size_t i = 0; i < node->schema->arg_count; i++) {
            if (node->schema->args[i].written) {
                return false;
            }
        }
        return true;
    case TAPER_NODE_SEGMENT: // a segment writes only to values that it makes itself
        return true;
    default:
        for (size_t b = 0; b < node->block_count; b++) {
            for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
                if (!taper_node_is_pure(inner)) {
                    return false;
                }
            }
        }
        return node->kind != TAPER_NODE_LOOP; // a loop is not pure, because it may never end
    }
}

bool taper_node_only_raises(const taper_node *node)
{
    if (node->kind != TAPER_NODE_IF) {
        return taper_node_is_pure(node) || taper_node_has(node, TAPER_OP_RAISES);
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            if (!taper_node_only_raises(inner)) {
                return false;
            }
        }
    }
    return true;
}

const taper_val *taper_node_constant_in(const taper_node *node, size_t index)
{
    if (index >= node->input_count) {
        return NULL;
    }
    const taper_ir_value *value = taper_node_in(node, index); // an input is NULL while the node is being made
    const taper_node *constant = value != NULL ? taper_value_constant(value) : NULL;
    return constant != NULL ? &constant->constant : NULL;
}

bool taper_node_constant_is_number(const taper_node *node, size_t index, double *number)
{
    const taper_val *value = taper_node_constant_in(node, index);
    if (value == NULL || (value->tag != TAPER_INT && value->tag != TAPER_DOUBLE && value->tag != TAPER_BOOLEAN)) {
        return false;
    }
    *number = value->tag == TAPER_DOUBLE ? value->as.f : (double)value->as.i;
    return true;
}

// Reads constant bounds as floats, which is the precision of the kernels and packed objects that use them.
static bool constant_bounds(const taper_node *node, double bounds[2])
{
    bool any = false;
    for (size_t i = 0; i < 2 && 1 + i < node->input_count; i++) {
        const taper_val *value = taper_node_constant_in(node, 1 + i);
        if (value == NULL) {
            return false;
        }
        if (value->tag == TAPER_NONE) {
            continue;
        }
        if (!taper_node_constant_is_number(node, 1 + i, &bounds[i]) ||
            !(fabs(bounds[i]) <= FLT_MAX || isinf(bounds[i]))) {
            return false;
        }
        any = true;
    }
    return any; // false if there is no bound, because the operator then raises an error
}

bool taper_node_bounds(const taper_node *node, double bounds[2])
{
    bounds[0] = -(double)INFINITY;
    bounds[1] = (double)INFINITY;
    if (node->kind != TAPER_NODE_OP || node->schema->out_count != 0) {
        return false;
    }
    switch (TAPER_FIELD(taper_node_facts(node), FUNCTION)) {
    case TAPER_FUNCTION_RELU6:
        bounds[1] = 6;
        bounds[0] = 0;
        return true;
    case TAPER_FUNCTION_RELU:
        bounds[0] = 0;
        return true;
    case TAPER_FUNCTION_CLAMP:
        return constant_bounds(node, bounds);
    default:
        return false;
    }
}
