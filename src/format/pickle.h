// SPDX-License-Identifier: BSD-2-Clause
// Reads the pickle dialect of TorchScript archives, which has a fixed list of opcodes and of globals. Nothing is ever
// executed. The result is a value on a heap. If the file shares a value (through the memo), the result shares it too.
// Cycles cannot be written in this dialect and are refused, and so is nesting beyond TAPER_LIMIT_VALUE_DEPTH.
#ifndef TAPER_FORMAT_PICKLE_H
#define TAPER_FORMAT_PICKLE_H

#include "ir/tensor_def.h"

// Functions for pickles that contain objects of classes or enums.
typedef struct taper_class_host {
    void *user;
    // Decides how a new object gets its state. If *taken is set to true, the function has taken over the state.
    // Otherwise the names in the state become attributes of the object.
    taper_status (*set_state)(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error);
    // Finds the member of the enum class_name that has this value, and sets *member to a reference to the member. The
    // pointer is NULL if the pickle cannot contain enums.
    taper_status (*member)(void *user, const char *class_name, taper_val value, taper_val *member, taper_error *error);
} taper_class_host;

// The class host for pickles that may contain tensors of Python subclasses, such as torchao's. Such a tensor becomes a
// dict of its parts. A value in this dict that is neither a tensor nor a plain value becomes None.
extern const taper_class_host taper_subclass_host;

// Functions that the pickle reader calls for records of the archive.
typedef struct taper_pickle_host {
    void *user;
    // Returns in *storage a reference to the storage with this key, which has at least `numel` elements of the type
    // `dtype`. The pointer is NULL if the pickle must not contain tensors.
    taper_status (*storage)(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                            taper_storage **storage, taper_error *error);
    const taper_class_host *classes; // class host, or NULL if no class needs special treatment
} taper_pickle_host;

typedef struct taper_pickle_source {
    const uint8_t *data;
    size_t size;
    uint64_t offset;  // position of `data` in the file, in bytes, for messages
    const char *name; // name of the record for messages, such as "data.pkl"
} taper_pickle_source;

// Reads a pickle. *value receives a reference. scope: the named tuples of the file (ir/type.h).
TAPER_MUST_USE taper_status taper_pickle_read(taper_heap *heap, taper_type_scope *scope, const taper_pickle_host *host,
                                              const taper_pickle_source *source, taper_val *value, taper_error *error);

#endif
