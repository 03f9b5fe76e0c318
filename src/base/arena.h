// SPDX-License-Identifier: BSD-2-Clause
// Memory that is given back all at once: what a model, a graph or a pass makes.
#ifndef TAPER_BASE_ARENA_H
#define TAPER_BASE_ARENA_H

#include "base/memory.h"

// Bump allocation. Aligned for any C type.
typedef struct taper_arena {
    const taper_allocator *allocator;
    struct taper_arena_chunk *chunk;
    size_t used, total;
} taper_arena;

void taper_arena_init(taper_arena *arena, const taper_allocator *allocator);
void taper_arena_free(taper_arena *arena);
void *taper_arena_alloc(taper_arena *arena,
                        size_t size); // zeroed; NULL when out of memory; size 0 gives a valid pointer
void *taper_arena_array(taper_arena *arena, size_t count, size_t item_size);   // checks the product
char *taper_arena_string(taper_arena *arena, const char *text, size_t length); // a NUL-terminated copy

#endif
