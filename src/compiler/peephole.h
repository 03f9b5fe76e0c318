// SPDX-License-Identifier: BSD-2-Clause
// The parts of the pass peephole. Each function examines one node and may replace it. A function that replaces the node
// removes it and sets *done to true.
#ifndef TAPER_COMPILER_PEEPHOLE_H
#define TAPER_COMPILER_PEEPHOLE_H

#include "compiler/facts.h"
#include "ir/alias.h"

typedef struct taper_peephole {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_aliases *aliases; // aliases in the graph, computed at the first request and kept valid by replacements
    taper_dtypes dtypes;
    bool ranks_change; // true if a graph of the model changes the sizes of a tensor in place
} taper_peephole;

TAPER_MUST_USE taper_status taper_peephole_containers(taper_peephole *p, taper_node *node, bool *done);
TAPER_MUST_USE taper_status taper_peephole_numbers(taper_peephole *p, taper_node *node,
                                                   bool *done); // defined in peephole_numbers.c
taper_status taper_peephole_tensors(taper_peephole *p, taper_node *node, bool *done);

// Sets *written to true if any node may write to the memory of the value.
TAPER_MUST_USE taper_status taper_peephole_written(taper_peephole *p, const taper_ir_value *value, bool *written);
// Replaces the only output of `node` by `value` and removes `node`.
taper_status taper_peephole_replace(taper_node *node, taper_ir_value *value, bool *done);
// Replaces the only output of `node` by a constant and removes `node`. Takes over the caller's reference to the
// constant.
TAPER_MUST_USE taper_status taper_peephole_constant(taper_peephole *p, taper_node *node, taper_val constant,
                                                    bool *done);
// Returns the node that makes input `index` of `node`, or NULL if that node is not a call of the operator `op`.
taper_node *taper_peephole_maker(const taper_node *node, size_t index, const taper_op *op);

#endif
