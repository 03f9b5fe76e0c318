// SPDX-License-Identifier: BSD-2-Clause
// Turns lite-interpreter functions into graphs by running the stack machine symbolically: a value that an instruction
// would push becomes a value of the graph. Structured control flow is reconstructed from the jumps. Only the forms that
// PyTorch emits are accepted:
// if:    JF else; …; JMP end; else: …; end:
// loop:  LOADC 0; <most trips> <condition> <carried…>; LOOP end; STOREN …; …; <condition> <carried…>; JMP back; end:
#ifndef TAPER_FRONTEND_BYTECODE_H
#define TAPER_FRONTEND_BYTECODE_H

#include "format/bytecode_rows.h"
#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Fails if this build lacks operators or classes that the file uses. The detail text lists all of them, with the number
// of calls.
TAPER_MUST_USE taper_status taper_bytecode_check_operators(const taper_module *module, taper_error *error);
TAPER_MUST_USE taper_status taper_bytecode_lower(const taper_module *module, const taper_module_function *function,
                                                 taper_registry *registry, taper_graph **graph, taper_error *error);

#endif
