// SPDX-License-Identifier: BSD-2-Clause
// Lite-interpreter functions to graphs. The stack machine is run symbolically: what an instruction would push is a
// value of the graph. Structured control flow is recovered from the jumps; only the shapes that PyTorch emits are
// accepted:
//   if:    JF else; …; JMP end; else: …; end:
//   loop:  LOADC 0; <most trips> <condition> <carried…>; LOOP end; STOREN …; …; <condition> <carried…>; JMP back; end:
#ifndef TAPER_FRONTEND_BYTECODE_H
#define TAPER_FRONTEND_BYTECODE_H

#include "format/bytecode_rows.h"
#include "format/module.h"
#include "ir/graph.h"
#include "ops/list/registry.h"

// Fails with the whole list of operators and classes that this build lacks, with how often each is called, in the
// detail text.
TAPER_MUST_USE taper_status taper_bytecode_check_operators(const taper_module *module, taper_error *error);
TAPER_MUST_USE taper_status taper_bytecode_lower(const taper_module *module, const taper_module_function *function,
                                                 taper_registry *registry, taper_graph **graph, taper_error *error);

#endif
