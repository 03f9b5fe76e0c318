// SPDX-License-Identifier: BSD-2-Clause
// The blocks of a heap, and the calls that tell the heap, tensors and storages that a value is freed. For code that
// creates objects.
#ifndef TAPER_IR_HEAP_BLOCKS_H
#define TAPER_IR_HEAP_BLOCKS_H

#include "base/status.h"
#include "ir/object.h"

struct taper_container;
struct taper_storage;
struct taper_tensor;

const taper_allocator *taper_heap_allocator(const taper_heap *heap);

// Returns a block, or NULL if memory is missing. It is freed with exactly the same size. Blocks of 1 KiB and more are
// aligned to TAPER_ALIGNMENT and have TAPER_OVERREAD readable bytes after them. Smaller blocks are aligned for any C
// type.
void *taper_heap_alloc(taper_heap *heap, size_t size);
void taper_heap_free(taper_heap *heap, void *ptr, size_t size);
// Allocates a block that remains for many runs. It is never a freed block, which the next run would lack, unless it
// replaces a lasting one. It does not count as scratch, so a trim after planning keeps no reserve for it.
void *taper_heap_alloc_lasting(taper_heap *heap, size_t size, bool replaces);
void taper_heap_free_lasting(taper_heap *heap, void *ptr, size_t size);
// Registers an object that the caller has filled in, and sets its tag. Containers are linked into the heap's list.
void taper_heap_adopt(taper_heap *heap, taper_obj *obj, taper_tag tag);

// Blocks for storages, of at least 1 KiB. A trim after planning keeps no reserve for them.
void *taper_heap_alloc_storage(taper_heap *heap, size_t size);
void taper_heap_free_storage(taper_heap *heap, void *ptr, size_t size);
void taper_heap_trim_storages(taper_heap *heap);

void taper_heap_unlink(taper_heap *heap, struct taper_container *container);
void taper_heap_forget(taper_heap *heap);
void taper_tensor_free(struct taper_tensor *tensor);
void taper_storage_free(struct taper_storage *storage);

#endif
