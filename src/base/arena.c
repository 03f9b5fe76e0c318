// SPDX-License-Identifier: BSD-2-Clause
// Arenas allocate from chunks, whose sizes double up to LARGEST_CHUNK, and fill each chunk from the front. Allocations
// are charged to the budget of the load.
#include "base/arena.h"

#include "base/charge.h"

#include <string.h>

struct taper_arena_chunk {
    struct taper_arena_chunk *previous;
    size_t size; // size of data in bytes
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
