// SPDX-License-Identifier: BSD-2-Clause
// Computes cheap operators on constant tensors if the result is small or a view. The sizes of the inputs tell the cost
// before the computation. Operators are folded only if no node of the model writes to constants, and if nothing keeps
// the result: each run would return the same tensor, while PyTorch makes a new one each time. For attributes, which the
// host may write to, only views are folded.
#include "compiler/pass.h"
#include "ir/alias.h"

enum {
    MOST_ELEMENTS = 1 << 14, // largest number of elements in all inputs together, and of the result
    MOST_BYTES = 1 << 16,    // largest number of bytes in a result
    MOST_FOLDED = 1 << 20,   // largest total size of the folded tensors of a model, in bytes
    MOST_WORK = 1 << 22,     // largest number of elements computed for a model, also for results that are not kept
    WORK_OF_CALL = 64        // fixed cost of a call, in elements
};

typedef enum fold_cost {
    COSTS_NONE, // the operator is not folded
    COSTS_VIEW,
    COSTS_ELEMENTWISE, // each size of the result is at most the product of the inputs' sizes in that dimension
    COSTS_SIZES        // the operator makes a tensor whose sizes are argument 0
} fold_cost;

static fold_cost cost_of(const taper_node *node)
{
    const uint64_t facts = taper_node_facts(node);
    if (node->kind != TAPER_NODE_OP || node->schema->ret_count != 1 || node->schema->out_count != 0 ||
        node->schema->rets[0].type->kind != TAPER_TYPE_TENSOR || node->input_count > TAPER_FOLD_INPUTS ||
        (facts & TAPER_OP_ANY_ELEMENTS) != 0 || !taper_node_is_pure(node)) {
        return COSTS_NONE;
    }
    return (facts & TAPER_OP_NEW_VIEW) != 0                        ? COSTS_VIEW
           : (facts & (TAPER_OP_ELEMENTWISE | TAPER_OP_VIEW)) != 0 ? COSTS_ELEMENTWISE
           : TAPER_FIELD(facts, SHAPE) == TAPER_SHAPE_CREATE       ? COSTS_SIZES
                                                                   : COSTS_NONE;
}

static bool multiply(int64_t *product, int64_t factor)
{
    return factor >= 0 && taper_mul_i64(*product, factor, product) && *product <= MOST_ELEMENTS;
}

// Returns true if the result of broadcasting the tensors is small. *elements receives an upper bound of its number of
// elements.
static bool small_together(const taper_val *args, size_t count, int64_t *elements)
{
    int64_t product = 1;
    for (size_t d = 0; d < TAPER_MAX_RANK; d++) {
        int64_t largest = 1;
        for (size_t i = 0; i < count; i++) {
            const taper_tensor *tensor = args[i].tag == TAPER_TENSOR ? args[i].as.tensor : NULL;
            if (tensor != NULL && d < tensor->rank && tensor->sizes[tensor->rank - 1 - d] > largest) {
                largest = tensor->sizes[tensor->rank - 1 - d];
            }
        }
        if (!multiply(&product, largest)) {
            return false;
        }
    }
    *elements = product;
    return true;
}

static bool small_sizes(taper_val sizes, int64_t *elements)
{
    int64_t product = 1;
    if (sizes.tag != TAPER_LIST) {
        return false;
    }
    for (size_t i = 0; i < sizes.as.list->count; i++) {
        const taper_val item = sizes.as.list->items[i];
        if (item.tag != TAPER_INT || !multiply(&product, item.as.i)) {
            return false;
        }
    }
    *elements = product;
    return true;
}

// Returns true if the call is cheap, and adds its cost to the total. The total is bounded, because loading must take
// time in proportion to the file.
static bool is_cheap(taper_compilation *compilation, fold_cost cost, const taper_val *args, size_t count)
{
    int64_t elements = 0;
    const bool cheap = cost == COSTS_VIEW || (cost == COSTS_ELEMENTWISE && small_together(args, count, &elements)) ||
                       (cost == COSTS_SIZES && count != 0 && small_sizes(args[0], &elements));
    if (!cheap || compilation->fold_work > MOST_WORK) {
        return false;
    }
    compilation->fold_work += (size_t)elements + WORK_OF_CALL;
    return true;
}

// Sets `args` to the constant inputs of the node. Sets *attribute to true if one of the tensors is an attribute.
// Returns false if an input is not constant, or if a gradient through the operator may be requested.
static bool gather(const taper_compilation *compilation, const taper_node *node, taper_val *args, bool *attribute)
{
    *attribute = false;
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_node *constant = taper_value_constant(taper_node_in(node, i));
        if (constant == NULL) {
            return false;
        }
        args[i] = constant->constant;
        const bool tensor = args[i].tag == TAPER_TENSOR;
        if (tensor && (taper_dtype_is_quantized((taper_dtype)args[i].as.tensor->dtype) ||
                       (compilation->takes_gradients && args[i].as.tensor->requires_grad))) {
            return false;
        }
        if (!tensor && !taper_value_is_plain(taper_node_in(node, i))) {
            return false; // the list may change during the run
        }
        *attribute |= tensor && constant->own.constant.attribute;
    }
    return true;
}

// Sets *change to true if any graph writes to a constant, to a parameter, or to a value that called methods can reach.
static taper_status constants_change(taper_compilation *compilation, bool *change)
{
    if (compilation->outside_written == 0) { // computed once for all graphs, because no pass adds a write
        compilation->outside_written = taper_ranks_change(compilation) ? 2 : 1;
        for (size_t g = 0; g < compilation->count && compilation->outside_written == 1; g++) {
            taper_aliases *aliases;
            if (compilation->graphs[g] == NULL) {
                continue;
            }
            TAPER_TRY(taper_aliases_create(compilation->graphs[g], &aliases, compilation->error));
            compilation->outside_written = taper_aliases_outside_written(aliases) ? 2 : 1;
            taper_aliases_destroy(aliases);
        }
    }
    *change = compilation->outside_written == 2;
    return TAPER_OK;
}

// Folds one node if possible. *aliases is computed at the first request, because most graphs have nothing to fold.
static taper_status fold(taper_compilation *compilation, taper_aliases **aliases, taper_node *node)
{
    taper_val args[TAPER_FOLD_INPUTS], result;
    bool attribute, change, view;
    const fold_cost cost = cost_of(node);
    if (cost == COSTS_NONE || !gather(compilation, node, args, &attribute)) {
        return TAPER_OK;
    }
    const taper_ir_value *output = &node->outputs[0];
    if (*aliases == NULL) {
        TAPER_TRY(taper_aliases_create(node->block->graph, aliases, compilation->error));
    }
    if (taper_aliases_written(*aliases, output)) {
        return TAPER_OK;
    }
    TAPER_TRY(constants_change(compilation, &change));
    if (change || !is_cheap(compilation, cost, args, node->input_count) ||
        !taper_fold_tensor(compilation->registry, compilation->module->heap, node->op, args, node->input_count,
                           MOST_BYTES, &result, &view)) {
        return TAPER_OK;
    }
    const size_t bytes = view ? 0 : result.as.tensor->storage->bytes;
    const bool kept = view ? taper_value_object_handed_on(output)
                           : taper_aliases_escapes(*aliases, output) && taper_value_memory_handed_on(output);
    if (kept || (attribute && !view) || bytes > MOST_FOLDED - compilation->folded_bytes) {
        taper_val_release(result);
        return TAPER_OK;
    }
    compilation->folded_bytes += bytes;
    taper_ir_value *value;
    TAPER_TRY(taper_constant_before(node, result, &value, compilation->error));
    value->node->own.constant.attribute = attribute;
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    return TAPER_OK;
}

static taper_status visit_block(taper_compilation *compilation, taper_aliases **aliases, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count && node->kind != TAPER_NODE_SEGMENT; b++) {
            TAPER_TRY(visit_block(compilation, aliases, node->blocks[b]));
        }
        TAPER_TRY(fold(compilation, aliases, node));
    }
    return TAPER_OK;
}

taper_status taper_pass_fold_tensors(taper_compilation *compilation, taper_graph *graph)
{
    taper_aliases *aliases = NULL;
    const taper_status status = visit_block(compilation, &aliases, graph->body);
    taper_aliases_destroy(aliases);
    return status;
}
