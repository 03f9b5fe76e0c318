// SPDX-License-Identifier: BSD-2-Clause
// Writes a lite module, and says what the writers of both containers require. A writer only reads the module and writes
// its content. The code that filled the functions has made the instructions of the bytecode version.
//
// Each bytecode_version requires of the module's functions (the writers cannot check it):
//   4     every argument of an operator's schema is pushed, so no default is filled in
//   5     like 4; every function has a schema
//   6     operators have the number of pushed arguments (taper_lite_operator.arguments, -1 for a variable number);
//         the remaining arguments, at the end, have their defaults
//   7     like 6, but the arguments with defaults come before the out arguments at the end, which are always pushed
//   8, 9  these operators are instructions: TUPLE_INDEX, RAISE_EXCEPTION, UN_INITIALIZED, __IS__, __ISNOT__, __NOT__,
//         DICT_INDEX, DIM, DEVICE, DTYPE, FORMAT, NUM_TO_TENSOR, IS_CUDA, TO_LIST; up to 7 each is OP with the
//         operator of that name (prim::TupleIndex, prim::RaiseException, …); 9 is 8 in a flatbuffer
//
// Every version requires: operator_version is the version of the operators' meaning (10 for functions made here, the
// file's own for functions of a file). Instructions and tables are consistent. Objects whose class has a __setstate__
// are in `pending` with their state. No tensor is hidden NHWC. No value is a member of an enum, because PyTorch's lite
// interpreter cannot restore it. No class has two forms under one name.
#ifndef TAPER_FORMAT_MODULE_WRITE_H
#define TAPER_FORMAT_MODULE_WRITE_H

#include "base/pointer_map.h"
#include "format/module.h"
#include "format/name_sort.h"
#include "format/sink.h"

typedef struct taper_write_options {
    int bytecode_version;     // 0 for the module's own, in which 8 and 9 are equivalent
    const char *archive_name; // name of the folder in a zip archive; NULL for "archive"
    // Files to add to the module's extra files. A file with the name of an existing one replaces it; data NULL removes
    // it.
    const taper_module_extra *extras;
    size_t extra_count;
    bool without_debug; // true to leave out debug handles, and the records of the module's file that explain them
    // True to leave out the TorchScript sources of the module's file, together with their constants and, in an archive,
    // their influence on the version. The sources belong to the original attributes and methods, so leave them out if
    // these changed. They are always left out of an archive whose functions need a version in which the sources would
    // have another meaning.
    bool without_code;
    int64_t code_version; // version of the operators in the sources; 0 for the module's operator_version
} taper_write_options;

// Write a module. options may be NULL for zeros. A failure of the sink is returned; the sink's content is then
// undefined.
TAPER_MUST_USE taper_status taper_lite_archive_write(const taper_module *module, const taper_write_options *options,
                                                     const taper_sink *sink, taper_error *error);
TAPER_MUST_USE taper_status taper_lite_flatbuffer_write(const taper_module *module, const taper_write_options *options,
                                                        const taper_sink *sink, taper_error *error);

// ---- for both containers (module_write.c)

// Returns the bytecode version to write. Fails if it is outside of the container's range.
TAPER_MUST_USE taper_status taper_write_version(const taper_module *module, const taper_write_options *options,
                                                bool flatbuffer, int *version, taper_error *error);
// Returns the operator version to write: the lowest in which every operator has the meaning that it has in the module.
int64_t taper_write_operator_version(const taper_module *module);
// Returns true if code written with operators of version `from` has the same meaning with those of version `to`.
bool taper_write_same_meaning(int64_t from, int64_t to);
// Returns the extra files to write, each name once. The caller frees the array, which has *capacity items.
TAPER_MUST_USE taper_status taper_write_extras(const taper_module *module, const taper_write_options *options,
                                               taper_module_extra **extras, size_t *count, size_t *capacity,
                                               taper_error *error);
// Appends a type with its named tuples spelled out, the form for types in functions. Returns false if it is longer than
// readers accept.
bool taper_write_type(const taper_type *type, taper_text *text);
// Returns true if any instruction has a debug handle.
bool taper_write_has_handles(const taper_module *module);

// ---- objects with a __setstate__ (set_states.c)

typedef struct taper_set_states {
    const taper_module *module;
    taper_name *names; // classes with a __setstate__, sorted; the value is the index of that function
    size_t count;
    taper_pointer_map pending; // by object
    taper_pointer_map classes; // maps a class to 1 + the index of its function, or to 0 if it has none
} taper_set_states;

TAPER_MUST_USE taper_status taper_set_states_start(taper_set_states *states, const taper_module *module,
                                                   taper_error *error);
void taper_set_states_free(taper_set_states *states);
// Returns true if an object waits for its __setstate__.
bool taper_set_states_has(const taper_set_states *states, const taper_object *object);
// Finds the saved state of an object and the number of the function that restores it. *state is NULL if the object is
// saved as its attributes. Fails if only one of the two exists.
TAPER_MUST_USE taper_status taper_set_states_find(taper_set_states *states, const taper_object *object,
                                                  const taper_val **state, size_t *function, taper_error *error);

#endif
