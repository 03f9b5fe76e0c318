// SPDX-License-Identifier: BSD-2-Clause
// A graph of the portable stage to a function of the lite interpreter: the way back of frontend/bytecode.h.
#ifndef TAPER_COMPILER_EMIT_BYTECODE_H
#define TAPER_COMPILER_EMIT_BYTECODE_H

#include "format/module.h"
#include "ir/graph.h"

typedef struct taper_emit_target {
    const taper_allocator *allocator; // of working memory
    taper_arena *arena;               // everything of the function is put there
    taper_heap *heap;                 // of strings that are made
    int version;                      // of the bytecode: 4 to 9
    bool debug;                       // the nodes' debug numbers are handles of the file
    // They are places, and every node gets a handle that is put here. NULL: none.
    taper_module_callstacks *callstacks;
} taper_emit_target;

// *function has what is in the graph: instructions, operators, constants (each with a reference, which the caller
// releases also when this fails), types, the number of registers. Name and schema are the caller's. The graph's
// registers and last looks are overwritten.
TAPER_MUST_USE taper_status taper_emit_bytecode(const taper_emit_target *target, taper_graph *graph,
                                                taper_module_function *function, taper_error *error);

#endif
