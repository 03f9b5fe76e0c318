// SPDX-License-Identifier: BSD-2-Clause
// Implements taper_memory.h: an allocator that keeps freed blocks by their exact size. Heaps request few different
// sizes (ir/heap.c), so there are few lists. Contexts use this allocator like any other allocator of the host; this
// file does not depend on contexts.
#include <taper/taper_memory.h>

#include "base/arguments.h"
#include "base/atomic.h"
#include "base/memory.h"
#include "runtime/context.h"

typedef struct free_block {
    struct free_block *next;
} free_block;

typedef struct size_list {
    size_t size; // size of the blocks in this list; 0 if the entry is free
    free_block *first;
} size_list;

struct taper_caching_allocator {
    taper_allocator allocator, under;
    size_t limit;
    taper_spin lock; // guards the members below; the lock is not held during calls of the host's allocator `under`
    size_t blocks;   // number of blocks in use, plus one until the owner releases the allocator
    bool closed;     // true after the owner has released the allocator
    size_t used, kept;
    uint64_t reused, fetched;
    size_list *lists; // hash table of lists by size, with open addressing
    size_t capacity, count;
};

enum { FIRST_LISTS = 64 };

static size_list *place_of(size_list *lists, size_t capacity, size_t size)
{
    size_t at = (size_t)((uint64_t)size * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (capacity - 1);
    while (lists[at].size != 0 && lists[at].size != size) {
        at = (at + 1) & (capacity - 1);
    }
    return &lists[at];
}

// ---- allocating blocks

static free_block *take(taper_caching_allocator *c, size_t size)
{
    free_block *block = NULL;
    taper_spin_lock(&c->lock);
    size_list *list = c->capacity != 0 ? place_of(c->lists, c->capacity, size) : NULL;
    if (list != NULL && list->first != NULL) {
        block = list->first;
        list->first = block->next;
        c->kept -= size;
        c->reused++;
    } else {
        c->fetched++;
    }
    c->blocks++;
    c->used += size;
    taper_spin_unlock(&c->lock);
    return block;
}

static void drop_last(taper_caching_allocator *c)
{
    const taper_allocator under = c->under;
    taper_free(&under, c->lists, c->capacity * sizeof *c->lists);
    taper_free(&under, c, sizeof *c);
}

// Decrements the number of blocks, in which the owner of the allocator counts as one block. When the number reaches 0,
// the allocator is freed.
static void forget(taper_caching_allocator *c, size_t size)
{
    taper_spin_lock(&c->lock);
    c->used -= size;
    const bool last = --c->blocks == 0;
    taper_spin_unlock(&c->lock);
    if (last) {
        drop_last(c);
    }
}

static void *allocate(taper_caching_allocator *c, size_t size)
{
    void *block = take(c, size);
    if (block == NULL) {
        block = taper_alloc(&c->under, size);
    }
    if (block == NULL) { // frees the kept blocks, which may use up the memory, and tries again
        taper_caching_allocator_trim(c);
        block = taper_alloc(&c->under, size);
    }
    if (block == NULL) {
        forget(c, size);
    }
    return block;
}

// ---- keeping freed blocks

static size_t lists_in_use(const taper_caching_allocator *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->capacity; i++) {
        count += c->lists[i].first != NULL;
    }
    return count;
}

// Makes space in the table for one more list, by removing empty lists or by doubling the table. The lock is released
// during the allocation. Returns false if memory is missing.
static bool grow(taper_caching_allocator *c)
{
    taper_spin_lock(&c->lock);
    const size_t before = c->capacity, wanted = before < FIRST_LISTS ? FIRST_LISTS : before;
    const size_t capacity = 4 * lists_in_use(c) > wanted ? 2 * wanted : wanted;
    taper_spin_unlock(&c->lock);
    size_list *lists = taper_alloc_zeroed(&c->under, capacity * sizeof *lists), *old = lists;
    size_t freed = capacity;
    if (lists == NULL) {
        return false;
    }
    taper_spin_lock(&c->lock);
    // Proceeds only if no other thread has enlarged the table meanwhile.
    if (c->capacity == before && 4 * lists_in_use(c) <= 2 * capacity && !c->closed) {
        c->count = 0;
        for (size_t i = 0; i < before; i++) {
            if (c->lists[i].first != NULL) {
                *place_of(lists, capacity, c->lists[i].size) = c->lists[i];
                c->count++;
            }
        }
        old = c->lists;
        freed = before;
        c->lists = lists;
        c->capacity = capacity;
    }
    taper_spin_unlock(&c->lock);
    taper_free(&c->under, old, freed * sizeof *old);
    return true;
}

typedef enum outcome { KEPT, GOES, NEEDS_ROOM } outcome;

static outcome keep(taper_caching_allocator *c, free_block *block, size_t size)
{
    outcome done = GOES;
    taper_spin_lock(&c->lock);
    const bool fits = size >= sizeof *block && (c->limit == 0 || (c->kept <= c->limit && size <= c->limit - c->kept));
    if (fits && !c->closed) {
        size_list *list = c->capacity != 0 ? place_of(c->lists, c->capacity, size) : NULL;
        if (list == NULL || (list->size == 0 && 2 * (c->count + 1) > c->capacity)) {
            done = NEEDS_ROOM;
        } else {
            c->count += list->size == 0;
            list->size = size;
            block->next = list->first;
            list->first = block;
            c->kept += size;
            done = KEPT;
        }
    }
    taper_spin_unlock(&c->lock);
    return done;
}

static void release(taper_caching_allocator *c, void *block, size_t size)
{
    outcome done = keep(c, block, size);
    while (done == NEEDS_ROOM) {
        done = grow(c) ? keep(c, block, size) : GOES;
    }
    if (done == GOES) {
        taper_free(&c->under, block, size);
    }
    forget(c, size);
}

// Resizes a block with the allocator `under`. Most blocks that grow are small, so keeping them would gain nothing.
static void *resize(taper_caching_allocator *c, void *block, size_t old_size, size_t new_size)
{
    void *resized = taper_realloc(&c->under, block, old_size, new_size);
    if (resized == NULL) {
        taper_caching_allocator_trim(c);
        resized = taper_realloc(&c->under, block, old_size, new_size);
    }
    if (resized != NULL) {
        taper_spin_lock(&c->lock);
        c->used += new_size - old_size;
        taper_spin_unlock(&c->lock);
    }
    return resized;
}

static void *reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    taper_caching_allocator *c = user;
    if (new_size == 0) {
        if (ptr != NULL) {
            release(c, ptr, old_size);
        }
        return NULL;
    }
    return ptr != NULL ? resize(c, ptr, old_size, new_size) : allocate(c, new_size);
}

// ---- functions of the interface

taper_status taper_caching_allocator_create(const taper_allocator *under, size_t limit,
                                            taper_caching_allocator **caching, taper_error *error)
{
    TAPER_NEED_OUT(caching, error);
    if (under != NULL && under->reallocate == NULL) {
        return taper_fail_null(error, "under->reallocate");
    }
    const taper_allocator *from = under != NULL ? under : &taper_allocator_system;
    taper_caching_allocator *c = taper_alloc_zeroed(from, sizeof *c);
    if (c == NULL) {
        return taper_fail_memory(error);
    }
    c->under = *from;
    c->allocator = (taper_allocator){.user = c, .reallocate = reallocate};
    c->limit = limit;
    c->blocks = 1;
    taper_spin_init(&c->lock);
    *caching = c;
    return TAPER_OK;
}

const taper_allocator *taper_caching_allocator_get(const taper_caching_allocator *caching)
{
    return caching != NULL ? &caching->allocator : NULL;
}

void taper_caching_allocator_trim(taper_caching_allocator *c)
{
    for (size_t i = 0; c != NULL; i++) {
        free_block *block = NULL;
        size_t size = 0;
        taper_spin_lock(&c->lock);
        while (i < c->capacity && c->lists[i].first == NULL) {
            i++;
        }
        const bool more = i < c->capacity;
        if (more) {
            block = c->lists[i].first;
            size = c->lists[i].size;
            c->lists[i].first = NULL;
        }
        taper_spin_unlock(&c->lock);
        if (!more) {
            return;
        }
        size_t bytes = 0;
        while (block != NULL) {
            free_block *next = block->next;
            taper_free(&c->under, block, size);
            bytes += size;
            block = next;
        }
        taper_spin_lock(&c->lock);
        c->kept -= bytes;
        taper_spin_unlock(&c->lock);
    }
}

void taper_caching_allocator_release(taper_caching_allocator *caching)
{
    if (caching != NULL) {
        taper_spin_lock(&caching->lock);
        caching->closed = true;
        taper_spin_unlock(&caching->lock);
        taper_caching_allocator_trim(caching);
        forget(caching, 0);
    }
}

void taper_caching_allocator_info(const taper_caching_allocator *caching, taper_caching_info *info)
{
    taper_caching_info full = {0};
    taper_caching_allocator *c = (taper_caching_allocator *)(uintptr_t)caching;
    if (c != NULL) {
        taper_spin_lock(&c->lock);
        full.used_bytes = c->used;
        full.kept_bytes = c->kept;
        full.reused = c->reused;
        full.fetched = c->fetched;
        taper_spin_unlock(&c->lock);
    }
    if (info != NULL) {
        // A failure leaves the host's struct unchanged and is ignored, because this function returns no status.
        (void)taper_struct_write(info, "taper_caching_info", &full, sizeof full, NULL);
    }
}

void taper_context_trim(taper_context *context)
{
    if (context != NULL) {
        taper_heap_trim(context->heap);
    }
}
