// SPDX-License-Identifier: BSD-2-Clause
// Builds flatbuffers, whose layout flatbuffer.h describes, without a schema compiler: the caller passes slot numbers. A
// flatbuffer is built from the end, so a target is made before the table that refers to it. Large contents are not
// copied: they are blocks at the end of the file, which are written from the caller's memory to the sink.
//
// A call after a failure does nothing, so only taper_fbb_finish needs a check.
#ifndef TAPER_FORMAT_FLATBUFFER_BUILD_H
#define TAPER_FORMAT_FLATBUFFER_BUILD_H

#include "base/arena.h"
#include "format/sink.h"
#include "ir/type_table.h"

// The position of a target. If positive, it is the target's distance from the end of the built part. If negative, its
// magnitude is the target's distance from the start of the blocks, which follow the built part. 0 means no target.
typedef int64_t taper_fbb_ref;

enum { TAPER_FBB_SLOTS = 16, TAPER_FBB_ALIGNMENT = 16 };

typedef struct taper_fbb_block {
    const void *data;
    size_t size;
    bool text; // true to add a zero byte after the data
} taper_fbb_block;

typedef struct taper_fbb {
    const taper_allocator *allocator;
    uint8_t *data; // the file so far, in the last `size` bytes of the buffer
    size_t size, capacity;
    size_t table;                       // end of the open table
    size_t fields[TAPER_FBB_SLOTS];     // position of each field of the open table, by slot; 0 if absent
    taper_fbb_ref *tables;              // vtables that were made, which later tables may share
    size_t table_count, table_capacity; // number of `tables`, and items allocated
    taper_lookup strings;               // strings that later tables may share
    taper_arena arena;                  // memory for the shared strings
    taper_fbb_block *blocks;
    size_t block_count, block_capacity;
    uint64_t block_bytes;
    bool failed, large; // failed: an allocation failed; large: the file exceeds the range of offsets
} taper_fbb;

void taper_fbb_start(taper_fbb *b, const taper_allocator *allocator);
void taper_fbb_free(taper_fbb *b);

// ---- tables: add fields between start and end. A field with its default value is left out

void taper_fbb_table(taper_fbb *b);
void taper_fbb_number(taper_fbb *b, unsigned slot, unsigned width, uint64_t value, uint64_t otherwise);
// Adds a field with a number, even if the number is the default. Returns the position for taper_fbb_patch.
taper_fbb_ref taper_fbb_place(taper_fbb *b, unsigned slot, uint32_t value);
void taper_fbb_refer(taper_fbb *b, unsigned slot, taper_fbb_ref target); // if `target` is 0, adds no field
taper_fbb_ref taper_fbb_table_end(taper_fbb *b);
void taper_fbb_patch(taper_fbb *b, taper_fbb_ref place, uint32_t value);

// ---- targets of tables

// These functions add a struct, or a vector of `count` items. The caller writes the contents to *room, little-endian,
// before the next call. *room is NULL after a failure.
taper_fbb_ref taper_fbb_struct(taper_fbb *b, size_t size, size_t alignment, uint8_t **room);
taper_fbb_ref taper_fbb_vector(taper_fbb *b, size_t count, size_t width, size_t alignment, uint8_t **room);
taper_fbb_ref taper_fbb_u32s(taper_fbb *b, const uint32_t *items, size_t count);
taper_fbb_ref taper_fbb_refs(taper_fbb *b, const taper_fbb_ref *targets, size_t count);
taper_fbb_ref taper_fbb_string(taper_fbb *b, const char *text, size_t length);
// Adds a string, or returns the position of an equal string that was added before. The text must not change before the
// file is written.
taper_fbb_ref taper_fbb_shared_string(taper_fbb *b, const char *text);
// Adds a vector of bytes, or a string if `text` is true, without copying the bytes. The memory must remain valid until
// the file is written.
taper_fbb_ref taper_fbb_block_of(taper_fbb *b, const void *data, size_t size, bool text);

// Writes the file to the sink. `identifier` has 4 characters.
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
