// SPDX-License-Identifier: BSD-2-Clause
#include "compiler/pass.h"

bool taper_node_is(const taper_node *node, const char *name)
{
    if (node->kind != TAPER_NODE_OP) {
        return false;
    }
    const size_t length = strlen(name);
    if (strncmp(node->op_name, name, length) != 0) {
        return false;
    }
    const char next = node->op_name[length];
    return next == '(' || (next == '.' && strchr(name, '.') == NULL);
}

// Batch and instance norm in training write the running statistics, which their schemas do not say.
static bool updates_statistics(const taper_node *node)
{
    static const char *const names[] = {"aten::batch_norm", "aten::native_batch_norm", "aten::_batch_norm_impl_index",
                                        "aten::instance_norm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (taper_node_is(node, names[i])) {
            const taper_val *training = taper_node_constant_in(node, 5);
            return training == NULL || training->tag != TAPER_BOOLEAN || training->as.b;
        }
    }
    return false;
}

bool taper_node_is_pure(const taper_node *node)
{
    switch (node->kind) {
    case TAPER_NODE_SET_ATTR:
    case TAPER_NODE_CALL:
    case TAPER_NODE_OBJECT:
        return false;
    case TAPER_NODE_OP:
        if ((node->op->flags & (TAPER_OP_EFFECT | TAPER_OP_NONDETERMINISTIC)) != 0) {
            return false;
        }
        if (updates_statistics(node)) {
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

const taper_val *taper_node_constant_in(const taper_node *node, size_t index)
{
    if (index >= node->input_count) {
        return NULL;
    }
    const taper_node *constant = taper_value_constant(taper_node_in(node, index));
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

taper_status taper_constant_before(taper_node *before, taper_val value, taper_ir_value **made, taper_error *error)
{
    taper_node *node;
    TAPER_TRY(taper_node_constant(before->block->graph, value, &node, error));
    taper_node_insert_before(node, before);
    *made = &node->outputs[0];
    return TAPER_OK;
}

taper_status taper_visit_nodes(taper_compilation *compilation, taper_block *block,
                               taper_status (*visit)(taper_compilation *compilation, taper_node *node))
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(taper_visit_nodes(compilation, node->blocks[b], visit));
        }
        TAPER_TRY(visit(compilation, node));
    }
    return TAPER_OK;
}
