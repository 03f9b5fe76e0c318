// SPDX-License-Identifier: BSD-2-Clause
// A heap: where the objects of one session (or of a model's constants, or of the host's inputs) live. Freed blocks are
// kept by size and handed out again, so that a run like the one before makes no call to the allocator. A heap outlives
// its owner for as long as somebody holds a value of it. Any thread may free; the owner's thread allocates.
#ifndef TAPER_IR_HEAP_H
#define TAPER_IR_HEAP_H

#include "ir/heap_blocks.h"
#include "ir/value.h"

TAPER_MUST_USE taper_status taper_heap_create(const taper_allocator *allocator, taper_types *types, taper_heap **heap,
                                              taper_error *error);
// The owner lets go: cycles that nobody outside holds are freed, the rest goes with its last value.
void taper_heap_close(taper_heap *heap);

taper_types *taper_heap_types(const taper_heap *heap);

void taper_heap_set_limit(taper_heap *heap, size_t bytes); // of live blocks; 0: none
size_t taper_heap_limit_met(const taper_heap *heap);       // that limit, if a block was refused since; otherwise 0
void taper_heap_trim(taper_heap *heap);                    // free blocks go back to the allocator
uint64_t taper_heap_calls(const taper_heap *heap);         // allocator calls so far
size_t taper_heap_bytes(const taper_heap *heap);           // held from the allocator, free blocks included
// How often a storage of it that is read-only was written to, and so has bytes of its own since.
unsigned taper_heap_copies(const taper_heap *heap);
void taper_heap_copied(taper_heap *heap);

// Where storages of a run come from. Set by the executor for the time of a run; NULL otherwise.
typedef struct taper_storage_source {
    // A place for a new storage, and of what kind it is (taper_storage_kind); NULL: use the heap.
    void *(*place)(struct taper_storage_source *source, size_t bytes, taper_obj **owner, uint8_t *kind);
    void (*born)(struct taper_storage_source *source, struct taper_storage *storage);
    void (*died)(struct taper_storage_source *source, struct taper_storage *storage);
} taper_storage_source;
taper_storage_source *taper_heap_source(taper_heap *heap);
void taper_heap_set_source(taper_heap *heap, taper_storage_source *source);
void taper_heap_storage_died(taper_heap *heap, struct taper_storage *storage); // of which a source saw the birth

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

// The value itself, unless a tensor in it, or in containers in it, asks for a gradient: then that tensor without, over
// the same storage, and the containers around it anew. memo as above.
TAPER_MUST_USE taper_status taper_clone_detached(taper_heap *heap, taper_clone_memo **memo, taper_val value,
                                                 taper_val *detached, taper_error *error);

#endif
