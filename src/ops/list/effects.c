// SPDX-License-Identifier: BSD-2-Clause
// What can be said of a node before it runs: its effects, and results that are known.
#include "ops/list/effects.h"

bool taper_node_has_name(const taper_node *node, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(node->op_name, name, length) != 0) {
        return false;
    }
    const char next = node->op_name[length];
    return next == '(' || (next == '.' && strchr(name, '.') == NULL);
}

static bool is_none(const taper_node *node, size_t index)
{
    const taper_val *value = taper_node_constant_in(node, index);
    return value != NULL && value->tag == TAPER_NONE;
}

bool taper_node_updates_statistics(const taper_node *node)
{
    static const char *const names[] = {"aten::batch_norm", "aten::native_batch_norm", "aten::_batch_norm_impl_index",
                                        "aten::instance_norm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (taper_node_is(node, names[i])) {
            const taper_val *training = taper_node_constant_in(node, 5);
            return (training == NULL || training->tag != TAPER_BOOLEAN || training->as.b) &&
                   !(is_none(node, 3) && is_none(node, 4));
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
        return taper_node_is_pure(node) || taper_node_is(node, "prim::RaiseException");
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

enum {
    // Strings can be made long from little ("a".ljust(1000000000)); those are left to the run, which has its budgets.
    LONGEST_STRING = 256,
    LARGEST_WIDTH = 1024
};

// Whether the result is small for sure: neither of a kind that is not kept anyway, nor a long string.
static bool small_result(const taper_schema *schema, const taper_val *args, size_t count)
{
    if (schema->ret_count != 1) {
        return false;
    }
    switch ((taper_type_kind)schema->rets[0].type->kind) {
    case TAPER_TYPE_TENSOR:
    case TAPER_TYPE_LIST:
    case TAPER_TYPE_DICT:
    case TAPER_TYPE_TUPLE:
        return false;
    case TAPER_TYPE_STRING:
        break;
    default:
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        const taper_val *value = &args[i];
        if (value->tag == TAPER_LIST || (value->tag == TAPER_INT && value->as.i > LARGEST_WIDTH) ||
            (value->tag == TAPER_STRING && value->as.string->length > LONGEST_STRING)) {
            return false;
        }
    }
    return true;
}

bool taper_fold(taper_registry *registry, taper_heap *heap, const taper_op *op, const taper_schema *schema,
                taper_val *args, size_t count, taper_val *result)
{
    // Without arguments: is_scripting() and the like.
    const bool asks = schema->ret_count == 1 && schema->rets[0].type->kind == TAPER_TYPE_BOOL;
    if ((count == 0 && !asks) || count > TAPER_FOLD_INPUTS || !small_result(schema, args, count)) {
        return false;
    }
    taper_run run = taper_run_on(heap, registry, NULL);
    if (taper_call_op(&run, op, args, count, result, 1) != TAPER_OK) {
        return false; // the run will say what is wrong
    }
    if (taper_val_is_object(*result) && result->tag != TAPER_STRING) {
        taper_val_release(*result);
        return false;
    }
    return true;
}

static bool shares_storage(const taper_tensor *tensor, const taper_val *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (args[i].tag == TAPER_TENSOR && args[i].as.tensor->storage == tensor->storage) {
            return true;
        }
    }
    return false;
}

bool taper_fold_tensor(taper_registry *registry, taper_heap *heap, const taper_op *op, taper_val *args, size_t count,
                       size_t most_bytes, taper_val *result, bool *view)
{
    taper_run run = taper_run_on(heap, registry, NULL);
    if (count > TAPER_FOLD_INPUTS || taper_call_op(&run, op, args, count, result, 1) != TAPER_OK) {
        return false;
    }
    *view = result->tag == TAPER_TENSOR && shares_storage(result->as.tensor, args, count);
    const bool small = *view || (result->tag == TAPER_TENSOR && result->as.tensor->storage->bytes <= most_bytes);
    if (!small || taper_tensor_reveal(result->as.tensor, NULL) != TAPER_OK) {
        taper_val_release(*result);
        return false;
    }
    return true;
}
