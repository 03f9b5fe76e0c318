// SPDX-License-Identifier: BSD-2-Clause
// Reads the pickle dialect that TorchScript archives are written in: a fixed list of opcodes and of globals, nothing is
// ever executed. The result is values on a heap. What the file shares (through the memo) is shared in the result;
// cycles cannot be written in this dialect and are refused, and so is nesting beyond TAPER_LIMIT_VALUE_DEPTH.
#ifndef TAPER_FORMAT_PICKLE_H
#define TAPER_FORMAT_PICKLE_H

#include "ir/tensor_def.h"

// Who knows the classes of a pickle's objects.
typedef struct taper_class_host {
    void *user;
    // Takes over the state of a new object and answers true in *taken, or leaves both alone: the names in the state are
    // its attributes then.
    taper_status (*set_state)(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error);
    // The member of an enum that has the value; gives a reference. NULL: there are no enums.
    taper_status (*member)(void *user, const char *class_name, taper_val value, taper_val *member, taper_error *error);
} taper_class_host;

// What the archive around a pickle knows.
typedef struct taper_pickle_host {
    void *user;
    // The storage of a key, with at least numel elements of dtype; gives a reference. NULL: tensors are refused.
    taper_status (*storage)(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                            taper_storage **storage, taper_error *error);
    const taper_class_host *classes; // NULL: no class is special
} taper_pickle_host;

typedef struct taper_pickle_source {
    const uint8_t *data;
    size_t size;
    uint64_t offset;  // of data in the file, for messages
    const char *name; // "data.pkl", for messages
} taper_pickle_source;

// *value gets a reference. scope holds the named tuples of the file (ir/type.h).
TAPER_MUST_USE taper_status taper_pickle_read(taper_heap *heap, taper_type_scope *scope, const taper_pickle_host *host,
                                              const taper_pickle_source *source, taper_val *value, taper_error *error);

#endif
