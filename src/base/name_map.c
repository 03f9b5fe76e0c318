// SPDX-License-Identifier: BSD-2-Clause
// The hash table of name_map.h. It uses open addressing and is at most half full.
#include "base/name_map.h"

#include <string.h>

#include "base/charge.h"
#include "base/hash.h"

enum { FREE_LOOKS = 16, STEPS_A_LOOK = 2, CHARACTERS_A_STEP = 2 };

// Returns the entry that contains the name, or the free entry where it can be added.
static taper_name_entry *place(const taper_allocator *allocator, const taper_name_map *map, const char *text,
                               size_t length, uint64_t hash)
{
    uint64_t looks = length / CHARACTERS_A_STEP / STEPS_A_LOOK;
    size_t at = (size_t)hash & (map->size - 1);
    for (; map->entries[at].text != NULL; at = (at + 1) & (map->size - 1), looks++) {
        const taper_name_entry *e = &map->entries[at];
        if (e->hash == hash && e->length == length && memcmp(e->text, text, length) == 0) {
            break;
        }
    }
    if (looks > FREE_LOOKS) {
        (void)taper_spend(allocator, STEPS_A_LOOK * looks); // if this spends the budget, the next allocation is refused
    }
    return &map->entries[at];
}

size_t *taper_name_find(const taper_allocator *allocator, const taper_name_map *map, const char *text, size_t length)
{
    if (map->size == 0) {
        return NULL;
    }
    taper_name_entry *e = place(allocator, map, text, length, taper_hash_keyed(map->seed, text, length));
    return e->text != NULL ? &e->value : NULL;
}

static taper_status grow(const taper_allocator *allocator, taper_name_map *map, taper_error *error)
{
    taper_name_map bigger = {.size = map->size == 0 ? 64 : 2 * map->size, .count = map->count};
    size_t bytes;
    bigger.entries =
        taper_mul_size(bigger.size, sizeof *bigger.entries, &bytes) ? taper_alloc_zeroed(allocator, bytes) : NULL;
    if (bigger.entries == NULL) {
        return taper_fail_memory(error);
    }
    bigger.seed = map->size == 0 ? taper_hash_seed(bigger.entries) : map->seed;
    for (size_t i = 0; i < map->size; i++) {
        const taper_name_entry *e = &map->entries[i];
        if (e->text != NULL) {
            *place(allocator, &bigger, e->text, e->length, e->hash) = *e;
        }
    }
    taper_free(allocator, map->entries, map->size * sizeof *map->entries);
    *map = bigger;
    return TAPER_OK;
}

taper_status taper_name_add(const taper_allocator *allocator, taper_name_map *map, const char *text, size_t length,
                            size_t value, taper_error *error)
{
    if (2 * (map->count + 1) > map->size) {
        TAPER_TRY(grow(allocator, map, error));
    }
    const uint64_t hash = taper_hash_keyed(map->seed, text, length);
    taper_name_entry *e = place(allocator, map, text, length, hash);
    if (e->text == NULL) {
        *e = (taper_name_entry){.text = text, .length = length, .value = value, .hash = hash};
        map->count++;
    }
    return TAPER_OK;
}

void taper_name_free(const taper_allocator *allocator, taper_name_map *map)
{
    taper_free(allocator, map->entries, map->size * sizeof *map->entries);
    *map = (taper_name_map){.size = 0};
}
