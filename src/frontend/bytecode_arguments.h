// SPDX-License-Identifier: BSD-2-Clause
// How many values of the stack are a call's arguments. Files of bytecode 6 and later say it of each operator; the older
// ones (PyTorch 1.9 and before) passed every argument of the schema of their day, without saying how many that were.
// Since then arguments with defaults were appended: gelu's approximate, einsum's path, index_add's alpha,
// RaiseException's cls. The types of what is on the stack tell which of the two schemas a file means.
#ifndef TAPER_FRONTEND_BYTECODE_ARGUMENTS_H
#define TAPER_FRONTEND_BYTECODE_ARGUMENTS_H

#include "format/module.h"
#include "ir/graph.h"
#include "ir/schema.h"

typedef struct taper_bytecode_stack {
    const taper_module *module;
    const taper_module_function *function; // whose values these are
    taper_ir_value *const *values;         // those that the instruction may take, the top one last
    size_t count;
} taper_bytecode_stack;

// given: what the file says, or -1. Not more than the schema's arguments, unless that takes any number (vararg); may be
// more than the stack holds. *dropped: how many values above the arguments are to be left out, None each: arguments
// that the operator had once.
int64_t taper_bytecode_argument_count(const taper_bytecode_stack *stack, const taper_schema *schema, int64_t given,
                                      size_t *dropped);

// Whether the calls of a graph that is to be written without these numbers will be read as they are: not so where the
// arguments do not fit their types, as no PyTorch writes them.
TAPER_MUST_USE taper_status taper_bytecode_check_counts(const taper_module *module,
                                                        const taper_module_function *function, const taper_graph *graph,
                                                        taper_error *error);

// prim::tolist(...) -> ...: the tensor, how many dimensions the list has, and a number for the type of its elements.
// Old files call it as an operator without a number of arguments.
bool taper_bytecode_is_tolist(const taper_schema *schema);

#endif
