// SPDX-License-Identifier: BSD-2-Clause
// Copies nodes within their graph or into another graph.
#ifndef TAPER_IR_GRAPH_COPY_H
#define TAPER_IR_GRAPH_COPY_H

#include "ir/graph.h"

typedef struct taper_copier {
    const taper_allocator *allocator;
    taper_graph *to;
    // Copy of each value of the source graph, by id; NULL if the copied nodes use the value itself.
    taper_ir_value **values;
    size_t count, capacity;
    taper_error *error;
} taper_copier;

// Allocates entries for all values that the source graph has now.
TAPER_MUST_USE taper_status taper_copier_make_room(taper_copier *copier, const taper_graph *from);
void taper_copier_free(taper_copier *copier);

static inline taper_ir_value *taper_copy_of(const taper_copier *copier, taper_ir_value *value)
{
    taper_ir_value *copy = value->id < copier->count ? copier->values[value->id] : NULL;
    return copy != NULL ? copy : value;
}

// Records the copy of a value. Entries are not cleared before the next copy, because a copy sets every entry that it
// reads.
static inline void taper_stands_for(const taper_copier *copier, const taper_ir_value *value, taper_ir_value *copy)
{
    if (value->id < copier->count) {
        copier->values[value->id] = copy;
    }
}

// Copies a node and its blocks into the graph `to`. The copy is not in a block.
TAPER_MUST_USE taper_status taper_copy_node(const taper_copier *copier, const taper_node *node, taper_node **made);
// Copies a block into the graph `to`, as a block of the node `parent`.
TAPER_MUST_USE taper_status taper_copy_block(const taper_copier *copier, taper_node *parent, const taper_block *block,
                                             taper_block **made);

#endif
