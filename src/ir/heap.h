// SPDX-License-Identifier: BSD-2-Clause
// A heap: where the objects of one session (or of a model's constants, or of the host's inputs) live. Freed blocks are
// kept by size and handed out again, so that a run like the one before makes no call to the allocator. A heap outlives
// its owner for as long as somebody holds a value of it. Any thread may free; the owner's thread allocates.
#ifndef TAPER_IR_HEAP_H
#define TAPER_IR_HEAP_H

#include "ir/value.h"

struct taper_storage;
struct taper_storage_source;

TAPER_MUST_USE taper_status taper_heap_create(const taper_allocator *allocator, taper_types *types, taper_heap **heap,
                                              taper_error *error);
// The owner lets go: cycles that nobody outside holds are freed, the rest goes with its last value.
void taper_heap_close(taper_heap *heap);

const taper_allocator *taper_heap_allocator(const taper_heap *heap);
taper_types *taper_heap_types(const taper_heap *heap);

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

void taper_heap_set_limit(taper_heap *heap, size_t bytes); // of live blocks; 0: none
size_t taper_heap_limit_met(const taper_heap *heap);       // that limit, if a block was refused since; otherwise 0
void taper_heap_trim(taper_heap *heap);                    // free blocks go back to the allocator
uint64_t taper_heap_calls(const taper_heap *heap);         // allocator calls so far
size_t taper_heap_bytes(const taper_heap *heap);           // held from the allocator, free blocks included
// How often a storage of it that is read-only was written to, and so has bytes of its own since.
unsigned taper_heap_copies(const taper_heap *heap);
void taper_heap_copied(taper_heap *heap);

// For storages: blocks of at least 1 KiB that a trim after planning does not keep for scratch.
void *taper_heap_alloc_storage(taper_heap *heap, size_t size);
void taper_heap_free_storage(taper_heap *heap, void *ptr, size_t size);
void taper_heap_trim_storages(taper_heap *heap);

// For value.c and tensor.c.
void taper_heap_unlink(taper_heap *heap, taper_container *container);
void taper_heap_forget(taper_heap *heap);
struct taper_storage_source *taper_heap_source(taper_heap *heap);
void taper_heap_storage_died(taper_heap *heap, struct taper_storage *storage);
void taper_tensor_free(struct taper_tensor *tensor);
void taper_storage_free(struct taper_storage *storage);
taper_val *taper_container_items(taper_container *container, size_t *count);
void taper_container_clear(taper_container *container);

// Copies the graph of values into heap: containers and objects anew (sharing kept), tensors anew over shared, copied on
// first write, storages; strings and numbers as they are. memo is for several calls that share one graph.
typedef struct taper_clone_memo taper_clone_memo;
TAPER_MUST_USE taper_status taper_clone_begin(taper_heap *heap, taper_clone_memo **memo, taper_error *error);
TAPER_MUST_USE taper_status taper_clone_value(taper_clone_memo *memo, taper_val value, taper_val *copy,
                                              taper_error *error);
void taper_clone_end(taper_clone_memo *memo);

// For a run's inputs: the value itself, unless a tensor in it is the host's constant: then that tensor over a shared,
// copied on first write, storage, and the containers around it anew. *memo: NULL at first, taper_clone_end after the
// run; *guarded is held by value or by it.
TAPER_MUST_USE taper_status taper_clone_constants(taper_heap *heap, taper_clone_memo **memo, taper_val value,
                                                  taper_val *guarded, taper_error *error);

#endif
