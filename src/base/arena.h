// SPDX-License-Identifier: BSD-2-Clause
// Memory that a model, a graph or a pass allocates block by block and frees all at once.
#ifndef TAPER_BASE_ARENA_H
#define TAPER_BASE_ARENA_H

#include "base/memory.h"

// A bump allocator. Every block is aligned for any C type and charged to the budget of the load, if there is one.
typedef struct taper_arena {
    const taper_allocator *allocator;
    struct taper_arena_chunk *chunk;
    size_t used, total;
} taper_arena;

void taper_arena_init(taper_arena *arena, const taper_allocator *allocator);
void taper_arena_free(taper_arena *arena);

// Returns a zeroed block, or NULL if memory is missing or the budget is spent. A block of size 0 is a valid pointer.
void *taper_arena_alloc(taper_arena *arena, size_t size);
// Does what taper_arena_alloc does, for an array. Also returns NULL if the product of `count` and `item_size`
// overflows.
void *taper_arena_array(taper_arena *arena, size_t count, size_t item_size);
char *taper_arena_string(taper_arena *arena, const char *text, size_t length); // returns a NUL-terminated copy

#endif
