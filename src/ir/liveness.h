// SPDX-License-Identifier: BSD-2-Clause
// Marks the last use of every value (taper_ir_input.last). A value may have its last use in only one branch of an If,
// or inside a loop. taper_block.clears lists the registers of such values, which are cleared when the other branch is
// entered, or after the loop.
#ifndef TAPER_IR_LIVENESS_H
#define TAPER_IR_LIVENESS_H

#include "ir/graph.h"

// Computes the marks of a graph. Every value must already have a register (taper_ir_value.reg).
TAPER_MUST_USE taper_status taper_liveness(taper_graph *graph, taper_error *error);

#endif
