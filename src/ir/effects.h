// SPDX-License-Identifier: BSD-2-Clause
// Facts about a node that are known before it runs, such as its effects apart from its results.
#ifndef TAPER_IR_EFFECTS_H
#define TAPER_IR_EFFECTS_H

#include "ir/graph.h"
#include "ir/op.h"
#include "ir/schema.h"

// Returns the facts of the node's operator, or 0 for other kinds of nodes.
inline uint64_t taper_node_facts(const taper_node *node)
{
    return node->kind == TAPER_NODE_OP ? taper_op_facts(node->op) : 0;
}
inline bool taper_node_has(const taper_node *node, uint64_t flag)
{
    return (taper_node_facts(node) & flag) != 0;
}
// Makes the node a call of `op`.
static inline void taper_node_set_op(taper_node *node, const taper_op *op, const taper_schema *schema)
{
    node->op = op;
    node->op_name = schema->text;
    node->schema = schema;
}
// Returns true if the node has no effect apart from its results, and the results depend only on the inputs.
bool taper_node_is_pure(const taper_node *node);
// Returns true for batch norm and instance norm in training. These operators write the running statistics (arguments 3
// and 4), although their schemas do not say so.
bool taper_node_updates_statistics(const taper_node *node);
// Returns true if the node is pure, except that it may raise an exception.
bool taper_node_only_raises(const taper_node *node);
// Returns the constant at input `index`, or NULL if that input is not a constant.
const taper_val *taper_node_constant_in(const taper_node *node, size_t index);

bool taper_node_constant_is_number(const taper_node *node, size_t index, double *number);
// Returns the bounds of an operator that only clamps, if they are constant floats. A missing bound is infinite. Returns
// false for any other node.
bool taper_node_bounds(const taper_node *node, double bounds[2]);

#endif
