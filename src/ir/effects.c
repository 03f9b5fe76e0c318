// SPDX-License-Identifier: BSD-2-Clause
// What can be said of a node before it runs: its effects.
#include "ir/effects.h"

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
    case TAPER_NODE_FUSED: // what is written in place is its own
        return true;
    default:
        for (size_t b = 0; b < node->block_count; b++) {
            for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
                if (!taper_node_is_pure(inner)) {
                    return false;
                }
            }
        }
        return node->kind != TAPER_NODE_LOOP; // it may not end
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
    const taper_node *constant = taper_value_constant(taper_node_in(node, index));
    return constant != NULL ? &constant->constant : NULL;
}
