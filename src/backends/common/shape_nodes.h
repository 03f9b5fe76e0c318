// SPDX-License-Identifier: BSD-2-Clause
// Nodes that compute with sizes: whoever knows the shapes of a call knows what they give, and runs none of them.
#ifndef TAPER_BACKENDS_SHAPE_NODES_H
#define TAPER_BACKENDS_SHAPE_NODES_H

#include "ir/graph.h"
#include "ir/infer.h"

bool taper_is_shape_node(const taper_node *node);

// What the node gives as this output, a new reference (lists on the heap). arg: what is known of an input, by number: a
// value, or the shape of a tensor. None (TAPER_NONE): it is not known.
typedef struct taper_shape_argument {
    const taper_val *value; // NULL: not known
    taper_shape shape;
} taper_shape_argument;
taper_val taper_shape_node_evaluate(const taper_node *node, size_t output, taper_heap *heap,
                                    taper_shape_argument (*arg)(void *user, const taper_node *node, size_t at),
                                    void *user);

#endif
