// SPDX-License-Identifier: BSD-2-Clause
// Makes storages and prepares them for writing. Whose memory a storage has, taper_storage_kind says (ir/tensor_def.h).
#ifndef TAPER_IR_STORAGE_H
#define TAPER_IR_STORAGE_H

#include "ir/tensor_def.h"

// Uninitialized bytes on the heap. The executor's hook (a memory plan) may place it in an arena.
TAPER_MUST_USE taper_status taper_storage_new(taper_heap *heap, size_t bytes, taper_storage **storage,
                                              taper_error *error);
// Over memory that is somebody's: kind FILE, BORROWED or HOST. Read-only until the caller says otherwise.
TAPER_MUST_USE taper_status taper_storage_borrow(taper_heap *heap, taper_storage_kind kind, const void *data,
                                                 size_t bytes, taper_obj *owner, taper_storage **storage,
                                                 taper_error *error);
// A copy-on-write twin of origin, which is retained.
TAPER_MUST_USE taper_status taper_storage_share(taper_heap *heap, taper_storage *origin, taper_storage **storage,
                                                taper_error *error);
// Over a device's memory, which is taken over, also on failure.
TAPER_MUST_USE taper_status taper_storage_of_memory(taper_heap *heap, taper_memory *memory, size_t bytes,
                                                    taper_storage **storage, taper_error *error);
// Before writing: copies what is read-only, counts the version. Bytes that were handed out stay where they are until
// the storage goes.
TAPER_MUST_USE taper_status taper_storage_write(taper_storage *storage, taper_error *error);

#endif
