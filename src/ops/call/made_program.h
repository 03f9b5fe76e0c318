// SPDX-License-Identifier: BSD-2-Clause
// Programs that are made during a run, from facts that are known only during the run. A graph is compiled as a model of
// its own, with its own packs and constants, and runs as a part of the run that calls it. The code that makes graphs is
// in a lower layer than the runtime, so runtime/made_program.c does the rest.
#ifndef TAPER_OPS_MADE_PROGRAM_H
#define TAPER_OPS_MADE_PROGRAM_H

#include "ops/call/call.h"
#include "ops/call/emit.h"

// Fills the graph. The graph's parameters are self, which is an object without attributes, and one other value. The
// maker allocates by the allocator of the emitter's heap, which charges the program's budget.
typedef taper_status taper_program_maker(const void *user, const taper_emitter *e);
// Creates a program with the names class_name and method. `bytes` is the size of the data that the program is made
// from, which determines the program's budget. The run must have a context. *program receives a reference to a value
// that may be an item or an attribute.
TAPER_MUST_USE taper_status taper_made_program_create(taper_run *run, const char *class_name, const char *method,
                                                      uint64_t bytes, taper_program_maker *make, const void *user,
                                                      taper_val *program);
// Returns true if the value is a made program.
static inline bool taper_is_made_program(taper_val value)
{
    return value.tag == TAPER_BLOB;
}
// Runs the program. *result gets a reference.
TAPER_MUST_USE taper_status taper_made_program_run(taper_run *run, taper_val program, taper_val arg, taper_val *result);

#endif
