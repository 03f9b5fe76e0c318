// SPDX-License-Identifier: BSD-2-Clause
// A map from addresses to numbers, for the objects that a writer or a pass has visited. A file cannot choose addresses,
// so the table needs no protection against keys that collide on purpose.
#ifndef TAPER_BASE_POINTER_MAP_H
#define TAPER_BASE_POINTER_MAP_H

#include "base/memory.h"

typedef struct taper_pointer_entry {
    const void *key; // address; NULL in a free entry
    size_t value;
} taper_pointer_entry;

typedef struct taper_pointer_map {
    taper_pointer_entry *entries;
    size_t size, count; // size: number of entries, 0 or a power of two; count: number of entries in use
} taper_pointer_map;

// Returns the number of a key, or NULL if the map lacks the key. The pointer is valid until the next key is added.
size_t *taper_pointer_find(const taper_pointer_map *map, const void *key);

// Adds a key, which must not be NULL and must not be in the map yet.
TAPER_MUST_USE taper_status taper_pointer_add(const taper_allocator *allocator, taper_pointer_map *map, const void *key,
                                              size_t value, taper_error *error);

void taper_pointer_free(const taper_allocator *allocator, taper_pointer_map *map);

#endif
