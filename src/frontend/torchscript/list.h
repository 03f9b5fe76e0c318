// SPDX-License-Identifier: BSD-2-Clause
// Lists operators for `taper ops`: exactly the operators that PyTorch lists for the file. PyTorch lists the methods of
// the root as they are in the file, and the functions that these call in the form that PyTorch prepares to run. In that
// form calls are inlined, known conditions are decided, and, if any condition was decided, unused nodes are removed.
// For such a listing each function is lowered to its own graph, calls are nodes, and the passes below inline and
// simplify them.
#ifndef TAPER_TORCHSCRIPT_LIST_H
#define TAPER_TORCHSCRIPT_LIST_H

#include "frontend/torchscript/lower.h"

// ---- passes on l->graph

// Simplifies nodes by the types of their inputs, and by the contents of containers that a function makes and nothing
// changes. *changed: true if the graph changed.
TAPER_MUST_USE taper_status taper_ts_list_peephole(taper_ts_lowering *l, bool *changed);
// Simplifies by constants: computes results of operators, decides branches, and removes loops that never run.
TAPER_MUST_USE taper_status taper_ts_list_constants(taper_ts_lowering *l, bool *changed);
// Removes unused nodes. writes_stay: true to keep every operator that writes to memory.
TAPER_MUST_USE taper_status taper_ts_list_live(taper_ts_lowering *l, bool writes_stay);
// Replaces operators on numbers by the overloads for the types of their arguments.
TAPER_MUST_USE taper_status taper_ts_list_overloads(taper_ts_lowering *l);

// Returns the type of a value, which may also follow from a constant, or NULL if it is unknown.
const taper_type *taper_ts_type_in_graph(const taper_ir_value *value);

#endif
