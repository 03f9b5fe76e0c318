// SPDX-License-Identifier: BSD-2-Clause
// Numbers by name: what readers remember of the names that a file gives. Looks that a good hash would not need are
// charged to the budget of the load.
#ifndef TAPER_BASE_NAME_MAP_H
#define TAPER_BASE_NAME_MAP_H

#include "base/memory.h"

typedef struct taper_name_entry {
    const char *text; // borrowed, not NUL-terminated; NULL: free
    size_t length, value;
    uint64_t hash;
} taper_name_entry;

typedef struct taper_name_map {
    taper_name_entry *entries;
    size_t size, count; // size is 0 or a power of two
    uint64_t seed;      // of hashes: where the first entries were
} taper_name_map;

// NULL when there is none; good until the next name is added.
size_t *taper_name_find(const taper_allocator *allocator, const taper_name_map *map, const char *text, size_t length);

// A name that is there already keeps its number.
TAPER_MUST_USE taper_status taper_name_add(const taper_allocator *allocator, taper_name_map *map, const char *text,
                                           size_t length, size_t value, taper_error *error);

void taper_name_free(const taper_allocator *allocator, taper_name_map *map);

#endif
