// SPDX-License-Identifier: BSD-2-Clause
// Reads the pickle dialect that TorchScript archives are written in: a fixed list of opcodes and of globals, nothing is
// ever executed. The result is values on a heap. What the file shares (through the memo) is shared in the result;
// cycles cannot be written in this dialect and are refused, and so is nesting beyond TAPER_LIMIT_VALUE_DEPTH.
#ifndef TAPER_FORMAT_PICKLE_H
#define TAPER_FORMAT_PICKLE_H

#include "ir/tensor.h"

// What the archive around a pickle knows.
typedef struct taper_pickle_host {
    void *user;
    // The storage of a key, with at least numel elements of dtype; gives a reference. NULL: tensors are refused.
    taper_status (*storage)(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                            taper_storage **storage, taper_error *error);
    // An object whose class has a __setstate__ method: takes over the state and answers true in *taken, or leaves both
    // alone. NULL: no class has one.
    taper_status (*set_state)(void *user, taper_object *object, const char *class_name, taper_val state, bool *taken,
                              taper_error *error);
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
