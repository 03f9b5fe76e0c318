// SPDX-License-Identifier: BSD-2-Clause
// Marks the last use of every value (taper_ir_input.last). If a branch or a loop leaves a value unused, its register is
// listed for clearing: on entry of a block of an if, or after a loop (both in taper_block.clears).
#ifndef TAPER_IR_LIVENESS_H
#define TAPER_IR_LIVENESS_H

#include "ir/graph.h"

// Every value must have its register (taper_ir_value.reg).
TAPER_MUST_USE taper_status taper_liveness(taper_graph *graph, taper_error *error);

#endif
