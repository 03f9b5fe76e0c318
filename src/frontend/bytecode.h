// SPDX-License-Identifier: BSD-2-Clause
// Lite-interpreter functions to graphs. The stack machine is run symbolically: what an instruction would push is a
// value of the graph. Structured control flow is recovered from the jumps; only the shapes that PyTorch emits are
// accepted:
//   if:    JF else; …; JMP end; else: …; end:
//   loop:  LOADC 0; <most trips> <condition> <carried…>; LOOP end; STOREN …; …; <condition> <carried…>; JMP back; end:
#ifndef TAPER_FRONTEND_BYTECODE_H
#define TAPER_FRONTEND_BYTECODE_H

#include "format/module.h"
#include "ir/graph.h"
#include "ops/registry.h"

// The operator that an instruction stands for.
typedef struct taper_bytecode_row {
    const char *name, *overload;
    int inputs; // that it takes from the stack; -1: as many as its x says
} taper_bytecode_row;
const taper_bytecode_row *taper_bytecode_row_of(unsigned op); // NULL: none
// Whether the operator of this schema is an instruction since bytecode 8: files do not list it among their operators.
bool taper_bytecode_is_instruction(const char *schema);

// Fails with the whole list of operators and classes that this build lacks, with how often each is called, in the
// detail text.
TAPER_MUST_USE taper_status taper_bytecode_check_operators(const taper_module *module, const taper_registry *registry,
                                                           taper_error *error);
TAPER_MUST_USE taper_status taper_bytecode_lower(const taper_module *module, const taper_module_function *function,
                                                 taper_registry *registry, taper_graph **graph, taper_error *error);

#endif
