// SPDX-License-Identifier: BSD-2-Clause
// Adds the nodes of a forward that calls NnapiModules. The nodes are appended to e->block, like statements of a script.
#ifndef TAPER_NNAPI_SCRIPT_NODES_H
#define TAPER_NNAPI_SCRIPT_NODES_H

#include "ops/call/emit.h"

// taper_script_get adds *made = object.slot. taper_script_set adds object.slot = value.
TAPER_MUST_USE taper_status taper_script_get(taper_emitter *e, taper_ir_value *object, int64_t slot,
                                             taper_ir_value **made);
TAPER_MUST_USE taper_status taper_script_set(taper_emitter *e, taper_ir_value *object, int64_t slot,
                                             taper_ir_value *value);
// taper_script_object adds a new object of a C++ class of PyTorch. taper_script_call adds a call of the method `method`
// of the object args[0].
TAPER_MUST_USE taper_status taper_script_object(taper_emitter *e, taper_types *types, const char *name,
                                                taper_ir_value **made);
TAPER_MUST_USE taper_status taper_script_call(taper_emitter *e, const char *method, taper_ir_value *const *args,
                                              size_t count);
// Adds an If without results. Nodes that are added afterwards go into its first block, until the caller sets e->block
// to *outer.
TAPER_MUST_USE taper_status taper_script_if(taper_emitter *e, taper_ir_value *condition, taper_block **outer);
// Adds `for *index in range(len(list))`. Nodes that are added afterwards go into its block, until the caller sets
// e->block to *outer.
TAPER_MUST_USE taper_status taper_script_for(taper_emitter *e, taper_ir_value *list, taper_ir_value **index,
                                             taper_block **outer);

#endif
