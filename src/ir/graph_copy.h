// SPDX-License-Identifier: BSD-2-Clause
// Copies of nodes, in the graph that they are of or in another.
#ifndef TAPER_IR_GRAPH_COPY_H
#define TAPER_IR_GRAPH_COPY_H

#include "ir/graph.h"

typedef struct taper_copier {
    const taper_allocator *allocator;
    taper_graph *to;
    taper_ir_value **values; // by id, in the graph copied from: what stands for it in the copy; NULL: itself
    size_t count, capacity;
    taper_error *error;
} taper_copier;

// Room for the values that the graph copied from has by now.
TAPER_MUST_USE taper_status taper_copier_make_room(taper_copier *copier, const taper_graph *from);
void taper_copier_free(taper_copier *copier);

static inline taper_ir_value *taper_copy_of(const taper_copier *copier, taper_ir_value *value)
{
    taper_ir_value *copy = value->id < copier->count ? copier->values[value->id] : NULL;
    return copy != NULL ? copy : value;
}

// What is entered for one copy is never asked for in another: it is of a body that is gone by then, or entered anew.
static inline void taper_stands_for(const taper_copier *copier, const taper_ir_value *value, taper_ir_value *copy)
{
    if (value->id < copier->count) {
        copier->values[value->id] = copy;
    }
}

// A node of the graph `to`, with its blocks, that stands nowhere yet.
TAPER_MUST_USE taper_status taper_copy_node(const taper_copier *copier, const taper_node *node, taper_node **made);
// A block of that node of the graph `to`.
TAPER_MUST_USE taper_status taper_copy_block(const taper_copier *copier, taper_node *parent, const taper_block *block,
                                             taper_block **made);

#endif
