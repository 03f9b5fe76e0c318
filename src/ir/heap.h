// SPDX-License-Identifier: BSD-2-Clause
// A heap owns the objects of one session, of a model's constants, or of the host's inputs. Freed blocks are kept by
// size and reused, so a run that resembles the previous run does not call the allocator. A heap outlives its owner as
// long as other code holds one of its values. Any thread may allocate and free; only the owner sets the limit and the
// source.
#ifndef TAPER_IR_HEAP_H
#define TAPER_IR_HEAP_H

#include "ir/heap_blocks.h"
#include "ir/value.h"

TAPER_MUST_USE taper_status taper_heap_create(const taper_allocator *allocator, taper_types *types, taper_heap **heap,
                                              taper_error *error);
// Ends the owner's use. Cycles to which nothing outside refers are freed now; the heap itself is freed with its last
// value.
void taper_heap_close(taper_heap *heap);

taper_types *taper_heap_types(const taper_heap *heap);

void taper_heap_set_limit(taper_heap *heap, size_t bytes); // limit on all live blocks, in bytes; 0 means no limit
// Returns the limit if it has refused a block since it was set, otherwise 0.
size_t taper_heap_limit_met(const taper_heap *heap);
void taper_heap_trim(taper_heap *heap);            // returns free blocks to the allocator
uint64_t taper_heap_calls(const taper_heap *heap); // number of calls to the allocator so far
size_t taper_heap_bytes(const taper_heap *heap);   // bytes taken from the allocator, including free blocks
// Returns the number of read-only storages of the heap that were copied because they were written to.
unsigned taper_heap_copies(const taper_heap *heap);
void taper_heap_copied(taper_heap *heap);

// Decides where storages are placed during a run. The executor sets the heap's source for the duration of a run;
// otherwise the source is NULL.
typedef struct taper_storage_source {
    // Returns the memory for a new storage and sets its kind (taper_storage_kind). Returns NULL if the heap should
    // allocate the memory.
    void *(*place)(struct taper_storage_source *source, size_t bytes, taper_obj **owner, uint8_t *kind);
    void (*born)(struct taper_storage_source *source, struct taper_storage *storage);
    void (*died)(struct taper_storage_source *source, struct taper_storage *storage);
} taper_storage_source;
taper_storage_source *taper_heap_source(taper_heap *heap);
void taper_heap_set_source(taper_heap *heap, taper_storage_source *source);
// Tells the source that a storage was freed. Call it only for a storage whose creation the source has seen.
void taper_heap_storage_died(taper_heap *heap, struct taper_storage *storage);

// These functions copy a value and everything it contains into the heap. Containers and objects are copied, and remain
// shared as in the original. Tensors are copied over shared storages, whose bytes are copied when they are first
// written. Strings and numbers are not copied. A memo may serve several calls whose values share contents.
typedef struct taper_clone_memo taper_clone_memo;
TAPER_MUST_USE taper_status taper_clone_begin(taper_heap *heap, taper_clone_memo **memo, taper_error *error);
TAPER_MUST_USE taper_status taper_clone_value(taper_clone_memo *memo, taper_val value, taper_val *copy,
                                              taper_error *error);
void taper_clone_end(taper_clone_memo *memo);

// Prepares an input of a run. Returns the value itself, unless it contains a tensor that the host passed as read-only.
// Such a tensor is replaced by a tensor over a shared storage, whose bytes are copied when they are first written, and
// the containers around it are copied. *memo is NULL at first; call taper_clone_end after the run. *guarded is borrowed
// from `value` or *memo.
TAPER_MUST_USE taper_status taper_clone_constants(taper_heap *heap, taper_clone_memo **memo, taper_val value,
                                                  taper_val *guarded, taper_error *error);

// Returns the value itself, unless it contains a tensor that requires a gradient. Such a tensor is replaced by a tensor
// over the same storage that requires no gradient, and the containers around it are copied. *memo is used as in
// taper_clone_constants.
TAPER_MUST_USE taper_status taper_clone_detached(taper_heap *heap, taper_clone_memo **memo, taper_val value,
                                                 taper_val *detached, taper_error *error);

#endif
