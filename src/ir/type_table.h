// SPDX-License-Identifier: BSD-2-Clause
// The lookup table of types: a hash table with open addressing whose searches give up after a few probes. A type that
// is not found is made again. Names that were chosen to collide therefore cost memory in proportion to the file, but
// not time. Only type*.c and the readers of files include this header.
#ifndef TAPER_IR_TYPE_TABLE_H
#define TAPER_IR_TYPE_TABLE_H

#include "base/memory.h"

typedef struct taper_lookup_entry {
    uint64_t hash;
    const void *item; // the item; NULL in a free entry
} taper_lookup_entry;

typedef struct taper_lookup {
    taper_lookup_entry *entries;
    size_t size, count; // size: number of entries, 0 or a power of two; count: number of entries in use
} taper_lookup;

enum { TAPER_LOOKUP_PROBES = 32 };

uint64_t taper_hash_bytes(uint64_t seed, const void *bytes, size_t length);

typedef bool (*taper_lookup_same)(const void *item, const void *key);

taper_lookup_entry *taper_lookup_find(const taper_lookup *lookup, uint64_t hash, taper_lookup_same same,
                                      const void *key);

// Adds an item. Returns false if memory is missing or too many entries collide; the item is then not found later.
bool taper_lookup_add(const taper_allocator *allocator, taper_lookup *lookup, uint64_t hash, const void *item);

void taper_lookup_free(const taper_allocator *allocator, taper_lookup *lookup);

// Maps names to named tuples, for type_text.c. If `scope` is NULL, the table's own scope is used.
// taper_type_scope_enter returns false if the name cannot be added. The caller must then fail, because the name would
// later be read as another type.
struct taper_types;
struct taper_type_scope;
struct taper_type;
const struct taper_type *taper_type_scope_find(struct taper_types *types, struct taper_type_scope *scope,
                                               const char *name, size_t length);
bool taper_type_scope_enter(struct taper_types *types, struct taper_type_scope *scope, const struct taper_type *type);
const taper_allocator *taper_types_allocator(const struct taper_types *types);

#endif
