// SPDX-License-Identifier: BSD-2-Clause
// Creates storages and prepares them for writing. taper_storage_kind says what owns the memory (ir/tensor_def.h).
#ifndef TAPER_IR_STORAGE_H
#define TAPER_IR_STORAGE_H

#include "ir/tensor_def.h"

// Creates a storage of uninitialized bytes on the heap. During a run a memory plan may place it in an arena.
TAPER_MUST_USE taper_status taper_storage_new(taper_heap *heap, size_t bytes, taper_storage **storage,
                                              taper_error *error);
// Creates a storage over memory that `owner` keeps alive. `kind` is FILE, BORROWED or HOST. The storage is read-only
// until the caller clears `read_only`. The storage holds a reference to `owner`, which may be NULL.
TAPER_MUST_USE taper_status taper_storage_borrow(taper_heap *heap, taper_storage_kind kind, const void *data,
                                                 size_t bytes, taper_obj *owner, taper_storage **storage,
                                                 taper_error *error);
// Creates a storage that shares the memory of `origin` until one of the two storages is written to. The new storage
// holds a reference to `origin`.
TAPER_MUST_USE taper_status taper_storage_share(taper_heap *heap, taper_storage *origin, taper_storage **storage,
                                                taper_error *error);
// Creates a storage over a device's memory. Takes over the memory, even if it fails.
TAPER_MUST_USE taper_status taper_storage_of_memory(taper_heap *heap, taper_memory *memory, size_t bytes,
                                                    taper_storage **storage, taper_error *error);
// Prepares a storage for writing: copies read-only bytes first, and increases the version. The previous bytes remain
// valid until the storage is freed.
TAPER_MUST_USE taper_status taper_storage_write(taper_storage *storage, taper_error *error);

#endif
