// SPDX-License-Identifier: BSD-2-Clause
// Writes a lite module, and states what the writers of zip archives and of flatbuffers require. A writer only reads the
// module and writes its content. The code that filled the functions has chosen instructions that are valid for the
// bytecode version.
//
// Each bytecode_version requires the following of the module's functions, which the writers do not check:
// 4     every argument of an operator's schema is pushed, because no default is filled in
// 5     as in 4; every function has a schema
// 6     taper_lite_operator.arguments is the number of pushed arguments, -1 for a variable number; the remaining
//       arguments, at the end, have their defaults
// 7     as in 6, but out arguments are always pushed, and the omitted arguments are before them
// 8, 9  these operators are instructions: TUPLE_INDEX, RAISE_EXCEPTION, UN_INITIALIZED, __IS__, __ISNOT__, __NOT__,
//       DICT_INDEX, DIM, DEVICE, DTYPE, FORMAT, NUM_TO_TENSOR, IS_CUDA, TO_LIST. Up to version 7 each of them is OP
//       with the operator of that name (prim::TupleIndex, prim::RaiseException, …). 9 is the same as 8, in a flatbuffer
//
// Every version requires: operator_version is the operator version for which the functions were made (10 for functions
// of this library; for functions of a file, the version in the file). Instructions and tables are consistent. Objects
// whose class has a __setstate__ are in `pending` with their state. No tensor is stored as NHWC with NCHW strides. No
// value is a member of an enum, because PyTorch's lite interpreter cannot restore it. No two different classes have the
// same name.
#ifndef TAPER_FORMAT_MODULE_WRITE_H
#define TAPER_FORMAT_MODULE_WRITE_H

#include "base/pointer_map.h"
#include "format/module.h"
#include "format/name_sort.h"
#include "format/sink.h"

typedef struct taper_write_options {
    int bytecode_version;     // bytecode version to write; 0 for the module's own version; 8 and 9 are equivalent
    const char *archive_name; // name of the folder in a zip archive; NULL for "archive"
    // Files to add to the module's extra files. An entry with the name of an existing file replaces that file, or only
    // removes it if the entry's data is NULL.
    const taper_module_extra *extras;
    size_t extra_count;
    bool without_debug; // true to omit debug handles, and the records of the module's file that explain them
    // True to omit the TorchScript sources of the module's file and their constants. In an archive, the sources then do
    // not influence the version. The sources belong to the original attributes and methods, so omit the sources if the
    // attributes or methods changed. Sources are always omitted from an archive whose functions need a version in which
    // the sources would have another meaning.
    bool without_code;
    int64_t code_version; // version of the operators in the sources; 0 for the module's operator_version
} taper_write_options;

// These functions write a module to the sink. `options` may be NULL for defaults. If the sink fails, its error is
// returned, and the bytes that it has received are incomplete.
TAPER_MUST_USE taper_status taper_lite_archive_write(const taper_module *module, const taper_write_options *options,
                                                     const taper_sink *sink, taper_error *error);
TAPER_MUST_USE taper_status taper_lite_flatbuffer_write(const taper_module *module, const taper_write_options *options,
                                                        const taper_sink *sink, taper_error *error);

// ---- for zip archives and flatbuffers (module_write.c)

// Determines the bytecode version to write. Fails if the version is outside of the range that the container allows.
TAPER_MUST_USE taper_status taper_write_version(const taper_module *module, const taper_write_options *options,
                                                bool flatbuffer, int *version, taper_error *error);
// Returns the operator version to write: the lowest version in which every operator means what it means in the module.
int64_t taper_write_operator_version(const taper_module *module);
// Returns true if code written for operators of version `from` has the same meaning with operators of version `to`.
bool taper_write_same_meaning(int64_t from, int64_t to);
// Returns the extra files to write, each name once. The caller frees the array, which has *capacity items allocated.
TAPER_MUST_USE taper_status taper_write_extras(const taper_module *module, const taper_write_options *options,
                                               taper_module_extra **extras, size_t *count, size_t *capacity,
                                               taper_error *error);
// Appends the text of a type in the form that functions contain, with named tuples spelled out. Returns false if the
// text is longer than readers accept.
bool taper_write_type(const taper_type *type, taper_text *text);
// Returns true if any instruction has a debug handle.
bool taper_write_has_handles(const taper_module *module);

// ---- objects with a __setstate__ (set_states.c)

typedef struct taper_set_states {
    const taper_module *module;
    // Names of classes with a __setstate__, sorted; the value is the index of the function __setstate__.
    taper_name *names;
    size_t count;
    taper_pointer_map pending; // maps each object to its entry in the module's `pending`
    taper_pointer_map classes; // maps each class to 1 + the index of its __setstate__, or to 0 if it has none
} taper_set_states;

TAPER_MUST_USE taper_status taper_set_states_start(taper_set_states *states, const taper_module *module,
                                                   taper_error *error);
void taper_set_states_free(taper_set_states *states);
// Returns true if the module's `pending` contains the object.
bool taper_set_states_has(const taper_set_states *states, const taper_object *object);
// Finds the saved state of an object and the number of the function that restores it. *state is NULL if the object is
// saved as its attributes. Fails if the object has only a state or only a function.
TAPER_MUST_USE taper_status taper_set_states_find(taper_set_states *states, const taper_object *object,
                                                  const taper_val **state, size_t *function, taper_error *error);

#endif
