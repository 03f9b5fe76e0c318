// SPDX-License-Identifier: BSD-2-Clause
// Programs that are made while a model runs, of what is known only then. A graph is compiled as a model of its own,
// with packs and constants of its own, and runs as a part of the run that calls it. Whoever makes graphs stands below
// the runtime, which does the rest (runtime/made_program.c).
#ifndef TAPER_OPS_MADE_PROGRAM_H
#define TAPER_OPS_MADE_PROGRAM_H

#include "ops/call/call.h"
#include "ops/call/emit.h"

// Fills the graph, which has the parameters self, an object without attributes, and one more. The heap's allocator
// counts what making it costs.
typedef taper_status taper_program_maker(const void *user, const taper_emitter *e);
// class_name, method: what it is called. bytes: what it is made from, which decides what it may cost. The run has a
// context. *program: a reference to a value that may be an item or an attribute.
TAPER_MUST_USE taper_status taper_made_program_create(taper_run *run, const char *class_name, const char *method,
                                                      uint64_t bytes, taper_program_maker *make, const void *user,
                                                      taper_val *program);
// Whether it is such a value.
static inline bool taper_is_made_program(taper_val value)
{
    return value.tag == TAPER_BLOB;
}
// *result gets a reference.
TAPER_MUST_USE taper_status taper_made_program_run(taper_run *run, taper_val program, taper_val arg, taper_val *result);

#endif
