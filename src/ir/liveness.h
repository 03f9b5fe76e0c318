// SPDX-License-Identifier: BSD-2-Clause
// Marks the last use of every value (taper_ir_input.last). If a branch or a loop does not use a value, its register is
// listed in taper_block.clears. These registers are cleared when a block of an If is entered, or after a loop.
#ifndef TAPER_IR_LIVENESS_H
#define TAPER_IR_LIVENESS_H

#include "ir/graph.h"

// Computes the marks of a graph. Every value must already have a register (taper_ir_value.reg).
TAPER_MUST_USE taper_status taper_liveness(taper_graph *graph, taper_error *error);

#endif
