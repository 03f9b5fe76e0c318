// SPDX-License-Identifier: BSD-2-Clause
// What can be said of a node before it runs: whether it does anything but give its results.
#ifndef TAPER_IR_EFFECTS_H
#define TAPER_IR_EFFECTS_H

#include "ir/graph.h"
#include "ir/op.h"
#include "ir/schema.h"

// The facts of its operator; none of other nodes.
inline uint64_t taper_node_facts(const taper_node *node)
{
    return node->kind == TAPER_NODE_OP ? taper_op_facts(node->op) : 0;
}
inline bool taper_node_has(const taper_node *node, uint64_t flag)
{
    return (taper_node_facts(node) & flag) != 0;
}
// Makes it a call of op.
static inline void taper_node_set_op(taper_node *node, const taper_op *op, const taper_schema *schema)
{
    node->op = op;
    node->op_name = schema->text;
    node->schema = schema;
}
// Whether running the node has no effect but its results, and the results depend on the inputs alone.
bool taper_node_is_pure(const taper_node *node);
// Batch and instance norm in training write the running statistics (arguments 3 and 4), which their schemas do not say.
bool taper_node_updates_statistics(const taper_node *node);
// Whether it is pure but for exceptions it may raise.
bool taper_node_only_raises(const taper_node *node);
// The constant that is input `index`; NULL when it is none.
const taper_val *taper_node_constant_in(const taper_node *node, size_t index);

bool taper_node_constant_is_number(const taper_node *node, size_t index, double *number);
// The bounds of an operator that only clamps, where they are constant floats; infinite where there is none.
bool taper_node_bounds(const taper_node *node, double bounds[2]);

#endif
