// SPDX-License-Identifier: BSD-2-Clause
// What can be said of a node before it runs: whether it does anything but give its results, and what these are.
#ifndef TAPER_OPS_EFFECTS_H
#define TAPER_OPS_EFFECTS_H

#include "ir/graph.h"
#include "ops/list/registry.h"

// Whether node calls the operator with this name, any overload ("aten::relu"), or with the overload
// ("aten::add.Tensor").
bool taper_node_has_name(const taper_node *node, const char *name);
// Passes ask this of every node for dozens of names: the letter behind "aten::" tells most of them apart.
static inline bool taper_node_is(const taper_node *node, const char *name)
{
    return node->kind == TAPER_NODE_OP && node->op_name[6] == name[6] && taper_node_has_name(node, name);
}
// Whether running the node has no effect but its results, and the results depend on the inputs alone.
bool taper_node_is_pure(const taper_node *node);
// Batch and instance norm in training write the running statistics (arguments 3 and 4), which their schemas do not say.
bool taper_node_updates_statistics(const taper_node *node);
// Whether it is pure but for exceptions it may raise.
bool taper_node_only_raises(const taper_node *node);
// The constant that is input `index`; NULL when it is none.
const taper_val *taper_node_constant_in(const taper_node *node, size_t index);

// The result of a pure operator on numbers, strings, None and frozen lists. False when it is left to the run: it would
// be a tensor, a container or a long string, or the operator raises. *result gets a reference, and lies on heap.
enum { TAPER_FOLD_INPUTS = 16 };
bool taper_fold(taper_registry *registry, taper_heap *heap, const taper_op *op, const taper_schema *schema,
                taper_val *args, size_t count, taper_val *result);

// The same for an operator on constant tensors and, without tensors, for one that makes a small tensor. The result is
// at most most_bytes large, or a view of an argument. The caller knows that the operator is cheap for these arguments.
bool taper_fold_tensor(taper_registry *registry, taper_heap *heap, const taper_op *op, taper_val *args, size_t count,
                       size_t most_bytes, taper_val *result, bool *view);

#endif
