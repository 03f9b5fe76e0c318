// SPDX-License-Identifier: BSD-2-Clause
// The hash table of pointer_map.h. It uses open addressing and is at most half full.
#include "base/pointer_map.h"

size_t *taper_pointer_find(const taper_pointer_map *map, const void *key)
{
    if (map->size == 0) {
        return NULL;
    }
    size_t at = (size_t)((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20);
    while (map->entries[at & (map->size - 1)].key != NULL) {
        if (map->entries[at & (map->size - 1)].key == key) {
            return &map->entries[at & (map->size - 1)].value;
        }
        at++;
    }
    return NULL;
}

static void taper_pointer_place(taper_pointer_map *map, const void *key, size_t value)
{
    size_t at = (size_t)((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20);
    while (map->entries[at & (map->size - 1)].key != NULL) {
        at++;
    }
    map->entries[at & (map->size - 1)] = (taper_pointer_entry){.key = key, .value = value};
    map->count++;
}

taper_status taper_pointer_add(const taper_allocator *allocator, taper_pointer_map *map, const void *key, size_t value,
                               taper_error *error)
{
    if (2 * (map->count + 1) > map->size) {
        taper_pointer_map bigger = {.size = map->size == 0 ? 64 : 2 * map->size};
        size_t bytes;
        bigger.entries =
            taper_mul_size(bigger.size, sizeof *bigger.entries, &bytes) ? taper_alloc_zeroed(allocator, bytes) : NULL;
        if (bigger.entries == NULL) {
            return taper_fail_memory(error);
        }
        for (size_t i = 0; i < map->size; i++) {
            if (map->entries[i].key != NULL) {
                taper_pointer_place(&bigger, map->entries[i].key, map->entries[i].value);
            }
        }
        taper_free(allocator, map->entries, map->size * sizeof *map->entries);
        *map = bigger;
    }
    taper_pointer_place(map, key, value);
    return TAPER_OK;
}

void taper_pointer_free(const taper_allocator *allocator, taper_pointer_map *map)
{
    taper_free(allocator, map->entries, map->size * sizeof *map->entries);
    *map = (taper_pointer_map){.size = 0};
}
