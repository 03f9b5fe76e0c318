// SPDX-License-Identifier: BSD-2-Clause
// Turns a graph that was rewritten for a file (the portable stage, pass.h) into a function of the lite interpreter: the
// reverse of frontend/bytecode.h.
#ifndef TAPER_COMPILER_EMIT_BYTECODE_H
#define TAPER_COMPILER_EMIT_BYTECODE_H

#include "format/module.h"
#include "ir/graph.h"

typedef struct taper_emit_target {
    const taper_allocator *allocator; // allocator for working memory
    taper_arena *arena;               // memory for everything that belongs to the function
    taper_heap *heap;                 // heap for the strings that emitting creates
    int version;                      // bytecode version, 4 to 9
    bool debug;                       // true if the debug numbers of nodes are debug handles of the module's file
    // Receives a debug handle for every node. May be NULL; otherwise the debug numbers of nodes must be positions in
    // the sources.
    taper_module_callstacks *callstacks;
} taper_emit_target;

// Fills *function with what the graph contains: instructions, operators, constants, types and the number of registers.
// Each constant is a reference that the caller releases, also if this call fails. The caller sets name and schema. This
// call overwrites the register numbers and last uses that the graph stores.
TAPER_MUST_USE taper_status taper_emit_bytecode(const taper_emit_target *target, taper_graph *graph,
                                                taper_module_function *function, taper_error *error);

#endif
