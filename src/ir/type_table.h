// SPDX-License-Identifier: BSD-2-Clause
// The lookup table behind types: open addressing that gives up after a few probes. What is not found is made again, so
// names chosen to collide cost memory in proportion to the file and never time. For type*.c and the readers of files.
#ifndef TAPER_IR_TYPE_TABLE_H
#define TAPER_IR_TYPE_TABLE_H

#include "base/memory.h"

typedef struct taper_lookup_entry {
    uint64_t hash;
    const void *item; // NULL: free
} taper_lookup_entry;

typedef struct taper_lookup {
    taper_lookup_entry *entries;
    size_t size, count; // size is 0 or a power of two
} taper_lookup;

enum { TAPER_LOOKUP_PROBES = 32 };

static inline uint64_t taper_hash_bytes(uint64_t seed, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) {
        h = (h ^ p[i]) * UINT64_C(1099511628211);
    }
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

typedef bool (*taper_lookup_same)(const void *item, const void *key);

static inline taper_lookup_entry *taper_lookup_find(const taper_lookup *lookup, uint64_t hash, taper_lookup_same same,
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

static inline bool taper_lookup_place(taper_lookup *lookup, uint64_t hash, const void *item)
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

// Best effort: without memory or room the item just is not found later, and the result is false.
static inline bool taper_lookup_add(const taper_allocator *allocator, taper_lookup *lookup, uint64_t hash,
                                    const void *item)
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

static inline void taper_lookup_free(const taper_allocator *allocator, taper_lookup *lookup)
{
    taper_free(allocator, lookup->entries, lookup->size * sizeof *lookup->entries);
    *lookup = (taper_lookup){.size = 0};
}

// For type_text.c: named tuples by name; scope NULL is the table's own. A name that could not be entered would mean
// another type later: that is told by false.
struct taper_types;
struct taper_type_scope;
struct taper_type;
const struct taper_type *taper_type_scope_find(struct taper_types *types, struct taper_type_scope *scope,
                                               const char *name, size_t length);
bool taper_type_scope_enter(struct taper_types *types, struct taper_type_scope *scope, const struct taper_type *type);
const taper_allocator *taper_types_allocator(const struct taper_types *types);

#endif
