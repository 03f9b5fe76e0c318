// SPDX-License-Identifier: BSD-2-Clause
// Reads the pickle dialect of TorchScript archives: a fixed list of opcodes and of globals. Nothing is ever executed.
// The result is values on a heap. Values that the file shares (through the memo) are shared in the result. Cycles
// cannot be written in this dialect and are refused, and so is nesting beyond TAPER_LIMIT_VALUE_DEPTH.
#ifndef TAPER_FORMAT_PICKLE_H
#define TAPER_FORMAT_PICKLE_H

#include "ir/tensor_def.h"

// The functions that know the classes of a pickle's objects.
typedef struct taper_class_host {
    void *user;
    // Takes over the state of a new object and sets *taken to true, or leaves both unchanged. In that case the names in
    // the state become its attributes.
    taper_status (*set_state)(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error);
    // Returns the member of an enum that has the value. *member gets a reference. NULL if there are no enums.
    taper_status (*member)(void *user, const char *class_name, taper_val value, taper_val *member, taper_error *error);
} taper_class_host;

// The class host of pickles that may hold tensors of Python subclasses, as torchao has them. Such a tensor becomes the
// dict of its parts, in which every value that is neither a tensor nor plain becomes None.
extern const taper_class_host taper_subclass_host;

// The functions that know the archive around a pickle.
typedef struct taper_pickle_host {
    void *user;
    // Returns the storage of a key, with at least numel elements of dtype. *storage gets a reference. NULL if tensors
    // are refused.
    taper_status (*storage)(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                            taper_storage **storage, taper_error *error);
    const taper_class_host *classes; // NULL if no class is special
} taper_pickle_host;

typedef struct taper_pickle_source {
    const uint8_t *data;
    size_t size;
    uint64_t offset;  // position of data in the file, in bytes, for messages
    const char *name; // name for messages, "data.pkl"
} taper_pickle_source;

// Reads a pickle. *value gets a reference. scope has the named tuples of the file (ir/type.h).
TAPER_MUST_USE taper_status taper_pickle_read(taper_heap *heap, taper_type_scope *scope, const taper_pickle_host *host,
                                              const taper_pickle_source *source, taper_val *value, taper_error *error);

#endif
