// SPDX-License-Identifier: BSD-2-Clause
// Builds flatbuffers, whose layout is in flatbuffer.h, without a schema compiler: the caller knows the slots. They are
// built from the end, so a target is made before the table that refers to it. Large contents are not copied. They are
// blocks at the end of the file, and go from their own memory to the sink.
//
// A call after a failure does nothing, so only taper_fbb_finish needs a check.
#ifndef TAPER_FORMAT_FLATBUFFER_BUILD_H
#define TAPER_FORMAT_FLATBUFFER_BUILD_H

#include "base/arena.h"
#include "format/sink.h"
#include "ir/type_table.h"

// The place of something: its distance from the end of the built part, or minus its distance into the blocks. 0 is
// none.
typedef int64_t taper_fbb_ref;

enum { TAPER_FBB_SLOTS = 16, TAPER_FBB_ALIGNMENT = 16 };

typedef struct taper_fbb_block {
    const void *data;
    size_t size;
    bool text; // true to add a zero byte
} taper_fbb_block;

typedef struct taper_fbb {
    const taper_allocator *allocator;
    uint8_t *data; // only the last `size` bytes are in use
    size_t size, capacity;
    size_t table;                       // end of the open table
    size_t fields[TAPER_FBB_SLOTS];     // places of the open table's fields, by slot; 0 if absent
    taper_fbb_ref *tables;              // vtables that were made
    size_t table_count, table_capacity; // numbers for `tables`
    taper_lookup strings;               // strings that can be shared
    taper_arena arena;                  // memory for these strings
    taper_fbb_block *blocks;
    size_t block_count, block_capacity;
    uint64_t block_bytes;
    bool failed, large; // failed: memory is missing; large: beyond the range of offsets
} taper_fbb;

void taper_fbb_start(taper_fbb *b, const taper_allocator *allocator);
void taper_fbb_free(taper_fbb *b);

// ---- tables: add fields between start and end. A field with its default value is left out

void taper_fbb_table(taper_fbb *b);
void taper_fbb_number(taper_fbb *b, unsigned slot, unsigned width, uint64_t value, uint64_t otherwise);
// Adds a number, also if it is the default. Returns its place for taper_fbb_patch.
taper_fbb_ref taper_fbb_place(taper_fbb *b, unsigned slot, uint32_t value);
void taper_fbb_refer(taper_fbb *b, unsigned slot, taper_fbb_ref target); // a target of 0 leaves the field out
taper_fbb_ref taper_fbb_table_end(taper_fbb *b);
void taper_fbb_patch(taper_fbb *b, taper_fbb_ref place, uint32_t value);

// ---- targets of tables

// Add a struct, or the items of a vector. The caller writes them into *room, little-endian, before the next call. *room
// is NULL after a failure.
taper_fbb_ref taper_fbb_struct(taper_fbb *b, size_t size, size_t alignment, uint8_t **room);
taper_fbb_ref taper_fbb_vector(taper_fbb *b, size_t count, size_t width, size_t alignment, uint8_t **room);
taper_fbb_ref taper_fbb_u32s(taper_fbb *b, const uint32_t *items, size_t count);
taper_fbb_ref taper_fbb_refs(taper_fbb *b, const taper_fbb_ref *targets, size_t count);
taper_fbb_ref taper_fbb_string(taper_fbb *b, const char *text, size_t length);
// Adds a string once for all equal ones. The text must not change before the end.
taper_fbb_ref taper_fbb_shared_string(taper_fbb *b, const char *text);
// Adds a vector of bytes, or a string, without a copy. It must remain in place until the end.
taper_fbb_ref taper_fbb_block_of(taper_fbb *b, const void *data, size_t size, bool text);

// Writes the file. identifier has 4 characters.
TAPER_MUST_USE taper_status taper_fbb_finish(taper_fbb *b, taper_fbb_ref root, const char *identifier,
                                             const taper_sink *sink, taper_error *error);

static inline void taper_store_u32(uint8_t *to, uint32_t number)
{
    for (size_t i = 0; i < 4; i++) {
        to[i] = (uint8_t)(number >> (8 * i));
    }
}

static inline void taper_store_u64(uint8_t *to, uint64_t number)
{
    taper_store_u32(to, (uint32_t)number);
    taper_store_u32(to + 4, (uint32_t)(number >> 32));
}

#endif
