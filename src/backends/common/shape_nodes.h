// SPDX-License-Identifier: BSD-2-Clause
// Nodes that compute with sizes. If the shapes of a call are known, the results of these nodes can be computed from the
// shapes, and none of these nodes needs to run.
#ifndef TAPER_BACKENDS_SHAPE_NODES_H
#define TAPER_BACKENDS_SHAPE_NODES_H

#include "ir/graph.h"
#include "ir/infer.h"

bool taper_is_shape_node(const taper_node *node);

// taper_shape_node_evaluate returns output number `output` of the node as a new reference (lists are on the heap), or
// None if it is not known. `arg` returns what is known about the input with that number: a value, or the shape of a
// tensor.
typedef struct taper_shape_argument {
    const taper_val *value; // the value if it is known, otherwise NULL
    taper_shape shape;
} taper_shape_argument;
taper_val taper_shape_node_evaluate(const taper_node *node, size_t output, taper_heap *heap,
                                    taper_shape_argument (*arg)(void *user, const taper_node *node, size_t at),
                                    void *user);

#endif
