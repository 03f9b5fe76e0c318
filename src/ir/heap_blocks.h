// SPDX-License-Identifier: BSD-2-Clause
// Allocates the blocks of a heap. Also frees objects, tensors and storages. Only code that creates objects includes
// this header.
#ifndef TAPER_IR_HEAP_BLOCKS_H
#define TAPER_IR_HEAP_BLOCKS_H

#include "base/status.h"
#include "ir/object.h"

struct taper_container;
struct taper_storage;
struct taper_tensor;

const taper_allocator *taper_heap_allocator(const taper_heap *heap);

// Returns a block, or NULL if memory is missing. The caller must free the block with exactly the same size. Blocks of
// at least 1 KiB are aligned to TAPER_ALIGNMENT and have TAPER_OVERREAD readable bytes after them. Smaller blocks are
// aligned for any C type.
void *taper_heap_alloc(taper_heap *heap, size_t size);
void taper_heap_free(taper_heap *heap, void *ptr, size_t size);
// Allocates a block that will be kept for many runs. Freed blocks are not reused for it, because the next run would
// then lack a block. If `replaces` is true, the caller frees such a block in return, so a freed block may be reused.
// taper_heap_trim_storages keeps no free blocks for lasting blocks, because they are not scratch memory.
void *taper_heap_alloc_lasting(taper_heap *heap, size_t size, bool replaces);
void taper_heap_free_lasting(taper_heap *heap, void *ptr, size_t size);
// Registers an object whose members the caller has set, and sets its tag. A container is linked into the heap's list of
// containers.
void taper_heap_adopt(taper_heap *heap, taper_obj *obj, taper_tag tag);

// These functions allocate and free blocks, of at least 1 KiB, for storages. taper_heap_trim_storages, called after a
// memory plan was made, keeps no free blocks for storages.
void *taper_heap_alloc_storage(taper_heap *heap, size_t size);
void taper_heap_free_storage(taper_heap *heap, void *ptr, size_t size);
void taper_heap_trim_storages(taper_heap *heap);

void taper_heap_unlink(taper_heap *heap, struct taper_container *container);
void taper_heap_forget(taper_heap *heap);
void taper_tensor_free(struct taper_tensor *tensor);
void taper_storage_free(struct taper_storage *storage);

#endif
