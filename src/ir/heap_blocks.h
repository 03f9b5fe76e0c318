// SPDX-License-Identifier: BSD-2-Clause
// The blocks of a heap, and what is told to it and to tensors and storages when a value goes: for those who make
// objects.
#ifndef TAPER_IR_HEAP_BLOCKS_H
#define TAPER_IR_HEAP_BLOCKS_H

#include "base/status.h"
#include "ir/object.h"

struct taper_container;
struct taper_storage;
struct taper_tensor;

const taper_allocator *taper_heap_allocator(const taper_heap *heap);

// A block; size must be given back exactly. Blocks of 1 KiB and more are aligned to TAPER_ALIGNMENT and have
// TAPER_OVERREAD readable bytes behind them; smaller ones are aligned for any C type.
void *taper_heap_alloc(taper_heap *heap, size_t size);
void taper_heap_free(taper_heap *heap, void *ptr, size_t size);
// A block that stays for many runs: none that was freed, which the next run would miss, unless it replaces another. It
// is no scratch, of which a trim after planning keeps as much as a run needs.
void *taper_heap_alloc_lasting(taper_heap *heap, size_t size, bool replaces);
void taper_heap_free_lasting(taper_heap *heap, void *ptr, size_t size);
// Registers an object that the caller filled in (tag set); links containers.
void taper_heap_adopt(taper_heap *heap, taper_obj *obj, taper_tag tag);

// For storages: blocks of at least 1 KiB that a trim after planning does not keep for scratch.
void *taper_heap_alloc_storage(taper_heap *heap, size_t size);
void taper_heap_free_storage(taper_heap *heap, void *ptr, size_t size);
void taper_heap_trim_storages(taper_heap *heap);

void taper_heap_unlink(taper_heap *heap, struct taper_container *container);
void taper_heap_forget(taper_heap *heap);
void taper_tensor_free(struct taper_tensor *tensor);
void taper_storage_free(struct taper_storage *storage);

#endif
