// SPDX-License-Identifier: BSD-2-Clause
// The parts of the pass peephole. Each looks at one node and may replace it; *done: it did, and the node is gone.
#ifndef TAPER_COMPILER_PEEPHOLE_H
#define TAPER_COMPILER_PEEPHOLE_H

#include "compiler/facts.h"
#include "ir/alias.h"

typedef struct taper_peephole {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_aliases *aliases; // made when first asked for; replacing keeps it true
    taper_dtypes dtypes;
    bool ranks_change; // somewhere a tensor gets other sizes in place
} taper_peephole;

TAPER_MUST_USE taper_status taper_peephole_containers(taper_peephole *p, taper_node *node, bool *done);
TAPER_MUST_USE taper_status taper_peephole_numbers(taper_peephole *p, taper_node *node,
                                                   bool *done); // peephole_numbers.c
taper_status taper_peephole_tensors(taper_peephole *p, taper_node *node, bool *done);

// Whether anything writes to what the value is, or may share memory with.
TAPER_MUST_USE taper_status taper_peephole_written(taper_peephole *p, const taper_ir_value *value, bool *written);
// value stands for the one output of node, which goes.
taper_status taper_peephole_replace(taper_node *node, taper_ir_value *value, bool *done);
// So does a constant; takes over the reference.
TAPER_MUST_USE taper_status taper_peephole_constant(taper_peephole *p, taper_node *node, taper_val constant,
                                                    bool *done);
// The node with this name that makes input `index`; NULL: another one.
taper_node *taper_peephole_maker(const taper_node *node, size_t index, const taper_op *op);

#endif
