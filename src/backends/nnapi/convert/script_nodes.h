// SPDX-License-Identifier: BSD-2-Clause
// The nodes of a forward that calls NnapiModules, appended to e->block as statements of a script are written down.
#ifndef TAPER_NNAPI_SCRIPT_NODES_H
#define TAPER_NNAPI_SCRIPT_NODES_H

#include "ops/call/emit.h"

// *made = object.slot; object.slot = value
TAPER_MUST_USE taper_status taper_script_get(taper_emitter *e, taper_ir_value *object, int64_t slot,
                                             taper_ir_value **made);
TAPER_MUST_USE taper_status taper_script_set(taper_emitter *e, taper_ir_value *object, int64_t slot,
                                             taper_ir_value *value);
// A new object of a class that PyTorch has in C++, and a call of a method on the first argument.
TAPER_MUST_USE taper_status taper_script_object(taper_emitter *e, taper_types *types, const char *name,
                                                taper_ir_value **made);
TAPER_MUST_USE taper_status taper_script_call(taper_emitter *e, const char *method, taper_ir_value *const *args,
                                              size_t count);
// An If without results: what follows goes into its first block, until e->block is *outer again.
TAPER_MUST_USE taper_status taper_script_if(taper_emitter *e, taper_ir_value *condition, taper_block **outer);
// for *index in range(len(list)), in the same way
TAPER_MUST_USE taper_status taper_script_for(taper_emitter *e, taper_ir_value *list, taper_ir_value **index,
                                             taper_block **outer);

#endif
