// SPDX-License-Identifier: BSD-2-Clause
// Where values die: marks the last look at every value (taper_ir_input.last) and, where a branch or a loop leaves one
// unused, the registers to clear: on entry of an if's block, after a loop (both in taper_block.clears).
#ifndef TAPER_IR_LIVENESS_H
#define TAPER_IR_LIVENESS_H

#include "ir/graph.h"

// Values must have their registers (taper_ir_value.reg).
TAPER_MUST_USE taper_status taper_liveness(taper_graph *graph, taper_error *error);

#endif
