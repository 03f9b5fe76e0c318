// SPDX-License-Identifier: BSD-2-Clause
// Numbers by address: what writers and passes remember of the objects they have met. Nobody chooses addresses, so the
// table needs no guard against chosen keys.
#ifndef TAPER_BASE_POINTER_MAP_H
#define TAPER_BASE_POINTER_MAP_H

#include "base/memory.h"

typedef struct taper_pointer_entry {
    const void *key; // NULL: free
    size_t value;
} taper_pointer_entry;

typedef struct taper_pointer_map {
    taper_pointer_entry *entries;
    size_t size, count; // size is 0 or a power of two
} taper_pointer_map;

// NULL when there is none; good until the next key is added.
size_t *taper_pointer_find(const taper_pointer_map *map, const void *key);

// A key that is not there yet, and not NULL.
TAPER_MUST_USE taper_status taper_pointer_add(const taper_allocator *allocator, taper_pointer_map *map, const void *key,
                                              size_t value, taper_error *error);

void taper_pointer_free(const taper_allocator *allocator, taper_pointer_map *map);

#endif
