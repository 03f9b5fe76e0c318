// SPDX-License-Identifier: BSD-2-Clause
// Operators as `taper ops` lists them: those that PyTorch saves. PyTorch lists the methods of the root as they are in
// the file, and the functions that these call in the form that PyTorch prepares to run. That form has calls inlined,
// known conditions decided, and, if anything was decided, unused nodes removed. In this mode each function is lowered
// to its own graph, calls are nodes, and the following passes do the rest.
#ifndef TAPER_TORCHSCRIPT_LIST_H
#define TAPER_TORCHSCRIPT_LIST_H

#include "frontend/torchscript/lower.h"

// ---- passes on l->graph

// Simplifies by types, and by containers that a function makes and that are never changed.
TAPER_MUST_USE taper_status taper_ts_list_peephole(taper_ts_lowering *l, bool *changed);
// Simplifies by constants: results of operators, branches that are taken, loops that never run.
TAPER_MUST_USE taper_status taper_ts_list_constants(taper_ts_lowering *l, bool *changed);
// Removes unused nodes. writes_stay: keeps every operator that writes.
TAPER_MUST_USE taper_status taper_ts_list_live(taper_ts_lowering *l, bool writes_stay);
// Replaces operators on numbers by those for the types of their arguments.
TAPER_MUST_USE taper_status taper_ts_list_overloads(taper_ts_lowering *l);

// Returns the type of a value, also as constants show it, or NULL if it is not known.
const taper_type *taper_ts_type_in_graph(const taper_ir_value *value);

#endif
