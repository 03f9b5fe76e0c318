// SPDX-License-Identifier: BSD-2-Clause
// Operators as `taper ops` lists them: those that PyTorch saves. It lists the methods of the root as the file has them,
// with the functions they call as it prepares those to run: each apart, what it calls inlined, with what is known then
// decided, and, where anything was decided, without what nobody looks at. So each function is lowered to a graph of its
// own here, calls are nodes, and these passes do the rest.
#ifndef TAPER_TORCHSCRIPT_LIST_H
#define TAPER_TORCHSCRIPT_LIST_H

#include "frontend/torchscript/lower.h"

// ---- the passes, on l->graph

// What types tell, and what a function makes and nobody changes.
TAPER_MUST_USE taper_status taper_ts_list_peephole(taper_ts_lowering *l, bool *changed);
// What constants tell: results of operators, branches that are taken, loops that never run.
TAPER_MUST_USE taper_status taper_ts_list_constants(taper_ts_lowering *l, bool *changed);
// What nobody looks at goes. writes_stay: whatever an operator writes to.
TAPER_MUST_USE taper_status taper_ts_list_live(taper_ts_lowering *l, bool writes_stay);
// Operators of numbers become those of the numbers that they have.
TAPER_MUST_USE taper_status taper_ts_list_overloads(taper_ts_lowering *l);

// The type of a value, as far as constants tell beyond what the graph says. NULL: not known.
const taper_type *taper_ts_type_in_graph(const taper_ir_value *value);

#endif
