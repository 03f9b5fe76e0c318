// SPDX-License-Identifier: BSD-2-Clause
// Writing a lite module: what both containers want of the caller. A writer only reads the module, and writes what it
// says: turning a program into the instructions of a bytecode version is the work of whoever filled the functions.
//
// What bytecode_version says about the functions of the module (the writers cannot see whether it holds):
//   4     arguments of operators: all that the schema has are pushed, so that defaults are not filled in
//   5     as 4; every function has a schema
//   6     operators know how many arguments are pushed (taper_lite_operator.arguments, -1 for those that take any
//         number): the others, at the end, have their defaults
//   7     as 6, and the defaults are those before the out arguments at the end, which are always pushed
//   8, 9  what became an instruction is one: TUPLE_INDEX, RAISE_EXCEPTION, UN_INITIALIZED, __IS__, __ISNOT__, __NOT__,
//         DICT_INDEX, DIM, DEVICE, DTYPE, FORMAT, NUM_TO_TENSOR, IS_CUDA, TO_LIST; up to 7 these are OP with the
//         operator of that name (prim::TupleIndex, prim::RaiseException, …); 9 is 8 in a flatbuffer
//
// In every version: operator_version is that of the operators' meaning (10 when the functions were made here, the
// file's own when they are the file's), instructions and tables are consistent, objects whose class has a __setstate__
// are in `pending` with their state, nothing in the module is hidden NHWC, no value is a member of an enum (PyTorch's
// lite interpreter cannot restore those), and no class has two forms under one name.
#ifndef TAPER_FORMAT_MODULE_WRITE_H
#define TAPER_FORMAT_MODULE_WRITE_H

#include "base/pointer_map.h"
#include "format/module.h"
#include "format/name_sort.h"
#include "format/sink.h"

typedef struct taper_write_options {
    int bytecode_version;     // 0: the module's own, where 8 and 9 stand for each other
    const char *archive_name; // of the folder in a zip archive; NULL: "archive"
    // Added to the module's extra files, or put in the place of those with the same names; data NULL takes one away.
    const taper_module_extra *extras;
    size_t extra_count;
    bool without_debug; // handles, and the records of the module's file that tell what these are
    // The TorchScript sources of the file that the module was read from, with their constants and, in an archive, their
    // share in the version. They belong to the attributes and methods as they were: leave them out when these changed.
    // They are left out of an archive whose functions need a version in which the sources would mean something else.
    bool without_code;
    int64_t code_version; // of the operators in the sources; 0: the module's operator_version
} taper_write_options;

// options NULL: all of the above zero. A failure of the sink is handed on; nothing then says what it has got so far.
TAPER_MUST_USE taper_status taper_lite_archive_write(const taper_module *module, const taper_write_options *options,
                                                     const taper_sink *sink, taper_error *error);
TAPER_MUST_USE taper_status taper_lite_flatbuffer_write(const taper_module *module, const taper_write_options *options,
                                                        const taper_sink *sink, taper_error *error);

// ---- what both have in common (module_write.c)

// The bytecode version to write; refuses those outside of a container's range.
TAPER_MUST_USE taper_status taper_write_version(const taper_module *module, const taper_write_options *options,
                                                bool flatbuffer, int *version, taper_error *error);
// The operator version to write: the lowest that gives every operator the meaning it has in the module.
int64_t taper_write_operator_version(const taper_module *module);
// Whether what was written with operators of version `from` means the same with those of version `to`.
bool taper_write_same_meaning(int64_t from, int64_t to);
// The extra files to write, each name once. The array is the caller's to free: *capacity items.
TAPER_MUST_USE taper_status taper_write_extras(const taper_module *module, const taper_write_options *options,
                                               taper_module_extra **extras, size_t *count, size_t *capacity,
                                               taper_error *error);
// Appends a type with its named tuples spelled out, as types of functions are written. False when it becomes longer
// than readers take.
bool taper_write_type(const taper_type *type, taper_text *text);
// Whether any instruction has a debug handle.
bool taper_write_has_handles(const taper_module *module);

// ---- objects with a __setstate__ (set_states.c)

typedef struct taper_set_states {
    const taper_module *module;
    taper_name *names; // of the classes that have one, sorted; value is the function
    size_t count;
    taper_pointer_map pending; // by object
    taper_pointer_map classes; // that were met, to their function and 1; 0: they have none
} taper_set_states;

TAPER_MUST_USE taper_status taper_set_states_start(taper_set_states *states, const taper_module *module,
                                                   taper_error *error);
void taper_set_states_free(taper_set_states *states);
// Whether an object waits for its __setstate__.
bool taper_set_states_has(const taper_set_states *states, const taper_object *object);
// The saved state of an object and the function that restores it; NULL when the object is its attributes. Refuses an
// object of which one is missing.
TAPER_MUST_USE taper_status taper_set_states_find(taper_set_states *states, const taper_object *object,
                                                  const taper_val **state, size_t *function, taper_error *error);

#endif
