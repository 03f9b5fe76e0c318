// SPDX-License-Identifier: BSD-2-Clause
// Finds how many values on the stack are a call's arguments. Files of bytecode 6 and later contain this number for each
// operator. In older files (PyTorch 1.9 and before), a call has every argument that the schema had when the file was
// written. Since then arguments with defaults were appended: approximate of gelu, path of einsum, alpha of index_add,
// cls of RaiseException. The types of the values on the stack show which schema applies.
#ifndef TAPER_FRONTEND_BYTECODE_ARGUMENTS_H
#define TAPER_FRONTEND_BYTECODE_ARGUMENTS_H

#include "format/module.h"
#include "ir/graph.h"
#include "ir/schema.h"

typedef struct taper_bytecode_stack {
    const taper_module *module;
    const taper_module_function *function; // function that contains the call
    taper_ir_value *const *values;         // values that the call may take; the last one is the top of the stack
    size_t count;
} taper_bytecode_stack;

// Returns the number of arguments. given: the number in the file, or -1 if the file has none. The result is at most the
// number of the schema's arguments, unless the schema is variadic (vararg), but it may exceed the height of the stack.
// *dropped receives the number of values on the stack, above the arguments, that must be ignored. Each of these values
// is None: it belongs to an argument that the operator no longer has.
int64_t taper_bytecode_argument_count(const taper_bytecode_stack *stack, const taper_schema *schema, int64_t given,
                                      size_t *dropped);

// Checks that the calls of the graph can be written without numbers of arguments: readers must find the right numbers
// from the types. The check fails if an argument does not fit its type, which never happens in files of PyTorch.
TAPER_MUST_USE taper_status taper_bytecode_check_counts(const taper_module *module,
                                                        const taper_module_function *function, const taper_graph *graph,
                                                        taper_error *error);

// Returns true for prim::tolist(...) -> ..., whose arguments are the tensor, the number of dimensions of the list, and
// a number for the type of its elements. Old files call it as an operator without a number of arguments.
bool taper_bytecode_is_tolist(const taper_schema *schema);

#endif
