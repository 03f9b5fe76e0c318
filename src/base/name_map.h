// SPDX-License-Identifier: BSD-2-Clause
// A map from names to numbers, for the names that a file contains. Long probe sequences, which a file could cause on
// purpose, are charged to the budget of the load.
#ifndef TAPER_BASE_NAME_MAP_H
#define TAPER_BASE_NAME_MAP_H

#include "base/memory.h"

typedef struct taper_name_entry {
    const char *text; // name, borrowed and not NUL-terminated; NULL in a free entry
    size_t length, value;
    uint64_t hash;
} taper_name_entry;

typedef struct taper_name_map {
    taper_name_entry *entries;
    size_t size, count; // size: number of entries, 0 or a power of two; count: number of entries in use
    uint64_t seed;      // seed of the hash function: the address of the first table
} taper_name_map;

// Returns the number of a name, or NULL if the map lacks the name. The pointer is valid until the next name is added.
size_t *taper_name_find(const taper_allocator *allocator, const taper_name_map *map, const char *text, size_t length);

// Adds a name. A name that the map already contains keeps its number. The map borrows the text.
TAPER_MUST_USE taper_status taper_name_add(const taper_allocator *allocator, taper_name_map *map, const char *text,
                                           size_t length, size_t value, taper_error *error);

void taper_name_free(const taper_allocator *allocator, taper_name_map *map);

#endif
