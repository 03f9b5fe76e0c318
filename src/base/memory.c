// SPDX-License-Identifier: BSD-2-Clause
// Memory from the host's allocator, growing arrays, and arenas.
#include "base/memory.h"

#include "base/charge.h"

#include <stdlib.h>
#include <string.h>

static void *system_reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

const taper_allocator taper_allocator_system = {.user = NULL, .reallocate = system_reallocate};

void *taper_alloc(const taper_allocator *allocator, size_t size)
{
    return size == 0 ? NULL : allocator->reallocate(allocator->user, NULL, 0, size);
}

void *taper_alloc_zeroed(const taper_allocator *allocator, size_t size)
{
    void *ptr = taper_alloc(allocator, size);
    if (ptr != NULL) {
        memset(ptr, 0, size);
    }
    return ptr;
}

void *taper_realloc(const taper_allocator *allocator, void *ptr, size_t old_size, size_t new_size)
{
    return allocator->reallocate(allocator->user, ptr, old_size, new_size);
}

void taper_free(const taper_allocator *allocator, void *ptr, size_t size)
{
    if (ptr != NULL) {
        (void)allocator->reallocate(allocator->user, ptr, size, 0);
    }
}

taper_status taper_grow(const taper_allocator *allocator, void **items, size_t *capacity, size_t want, size_t item_size,
                        taper_error *error)
{
    if (want <= *capacity) {
        return TAPER_OK;
    }
    size_t next = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    next = taper_max_size(next, want);
    size_t bytes;
    if (!taper_mul_size(next, item_size, &bytes) || bytes > SIZE_MAX / 4) {
        return taper_fail_memory(error);
    }
    void *grown = taper_realloc(allocator, *items, *capacity * item_size, bytes);
    if (grown == NULL) {
        return taper_fail_memory(error);
    }
    *items = grown;
    *capacity = next;
    return TAPER_OK;
}

struct taper_arena_chunk {
    struct taper_arena_chunk *previous;
    size_t size; // of data
    _Alignas(max_align_t) char data[];
};

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

void taper_arena_init(taper_arena *arena, const taper_allocator *allocator)
{
    *arena = (taper_arena){.allocator = allocator};
}

void taper_arena_free(taper_arena *arena)
{
    struct taper_arena_chunk *chunk = arena->chunk;
    while (chunk != NULL) {
        struct taper_arena_chunk *previous = chunk->previous;
        taper_free(arena->allocator, chunk, sizeof *chunk + chunk->size);
        chunk = previous;
    }
    arena->chunk = NULL;
    arena->used = arena->total = 0;
}

void *taper_arena_alloc(taper_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4) {
        return NULL;
    }
    size = taper_round_up(size == 0 ? 1 : size, 16);
    if (!taper_spend(arena->allocator, 8 + size / 4)) {
        return NULL;
    }
    if (arena->chunk == NULL || arena->chunk->size - arena->used < size) {
        size_t want = arena->total < FIRST_CHUNK ? FIRST_CHUNK : taper_min_size(arena->total, LARGEST_CHUNK);
        want = taper_max_size(want, size);
        struct taper_arena_chunk *chunk = taper_alloc(arena->allocator, sizeof *chunk + want);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->previous = arena->chunk;
        chunk->size = want;
        arena->chunk = chunk;
        arena->used = 0;
        arena->total += want;
    }
    void *ptr = arena->chunk->data + arena->used;
    arena->used += size;
    memset(ptr, 0, size);
    return ptr;
}

void *taper_arena_array(taper_arena *arena, size_t count, size_t item_size)
{
    size_t bytes;
    return taper_mul_size(count, item_size, &bytes) ? taper_arena_alloc(arena, bytes) : NULL;
}

char *taper_arena_string(taper_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX / 4 ? taper_arena_alloc(arena, length + 1) : NULL;
    if (copy != NULL && length != 0) {
        memcpy(copy, text, length);
    }
    return copy;
}
