// SPDX-License-Identifier: BSD-2-Clause
// The hash table of type_table.h, which limits the number of probes.
#include "ir/type_table.h"

#include <string.h>

#include "base/hash.h"

uint64_t taper_hash_bytes(uint64_t seed, const void *bytes, size_t length)
{
    const char *p = bytes;
    uint64_t h = seed ^ UINT64_C(14695981039346656037) ^ length, word;
    for (; length >= sizeof word; p += sizeof word, length -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = taper_hash_mix(h, word);
    }
    if (length != 0) {
        word = 0;
        memcpy(&word, p, length);
        h = taper_hash_mix(h, word);
    }
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

taper_lookup_entry *taper_lookup_find(const taper_lookup *lookup, uint64_t hash, taper_lookup_same same,
                                      const void *key)
{
    for (size_t i = 0; i < TAPER_LOOKUP_PROBES && i < lookup->size; i++) {
        taper_lookup_entry *entry = &lookup->entries[(size_t)(hash + i) & (lookup->size - 1)];
        if (entry->item == NULL) {
            return NULL;
        }
        if (entry->hash == hash && same(entry->item, key)) {
            return entry;
        }
    }
    return NULL;
}

static bool taper_lookup_place(taper_lookup *lookup, uint64_t hash, const void *item)
{
    for (size_t i = 0; i < TAPER_LOOKUP_PROBES && i < lookup->size; i++) {
        taper_lookup_entry *entry = &lookup->entries[(size_t)(hash + i) & (lookup->size - 1)];
        if (entry->item == NULL) {
            *entry = (taper_lookup_entry){.hash = hash, .item = item};
            lookup->count++;
            return true;
        }
    }
    return false;
}

bool taper_lookup_add(const taper_allocator *allocator, taper_lookup *lookup, uint64_t hash, const void *item)
{
    if (2 * (lookup->count + 1) > lookup->size) {
        taper_lookup bigger = {.size = lookup->size == 0 ? 64 : 2 * lookup->size};
        bigger.entries = bigger.size < SIZE_MAX / sizeof *bigger.entries / 2
                             ? taper_alloc_zeroed(allocator, bigger.size * sizeof *bigger.entries)
                             : NULL;
        if (bigger.entries == NULL) {
            return false;
        }
        for (size_t i = 0; i < lookup->size; i++) {
            if (lookup->entries[i].item != NULL) {
                (void)taper_lookup_place(&bigger, lookup->entries[i].hash, lookup->entries[i].item);
            }
        }
        taper_free(allocator, lookup->entries, lookup->size * sizeof *lookup->entries);
        *lookup = bigger;
    }
    return taper_lookup_place(lookup, hash, item);
}

void taper_lookup_free(const taper_allocator *allocator, taper_lookup *lookup)
{
    taper_free(allocator, lookup->entries, lookup->size * sizeof *lookup->entries);
    *lookup = (taper_lookup){.size = 0};
}
