// SPDX-License-Identifier: BSD-2-Clause
// Builds flatbuffers, whose layout is told in flatbuffer.h, without a schema compiler: the caller knows the slots.
// Built from the end: what is referred to is made before what refers to it. Large contents are not copied: they are
// blocks behind all the rest, and go from their own memory to the sink.
//
// A call after a failure does nothing, so only taper_fbb_finish needs a check.
#ifndef TAPER_FORMAT_FLATBUFFER_BUILD_H
#define TAPER_FORMAT_FLATBUFFER_BUILD_H

#include "base/arena.h"
#include "format/sink.h"
#include "ir/type_table.h"

// Where something was put: its distance from the end of what is built, or minus its distance into the blocks. 0: none.
typedef int64_t taper_fbb_ref;

enum { TAPER_FBB_SLOTS = 16, TAPER_FBB_ALIGNMENT = 16 };

typedef struct taper_fbb_block {
    const void *data;
    size_t size;
    bool text; // followed by a zero byte
} taper_fbb_block;

typedef struct taper_fbb {
    const taper_allocator *allocator;
    uint8_t *data; // the last `size` bytes of it are in use
    size_t size, capacity;
    size_t table;                       // where the open table ends
    size_t fields[TAPER_FBB_SLOTS];     // of the open table, by slot; 0: absent
    taper_fbb_ref *tables;              // descriptions of tables that were made
    size_t table_count, table_capacity; // of them
    taper_lookup strings;               // that can be shared
    taper_arena arena;                  // of these
    taper_fbb_block *blocks;
    size_t block_count, block_capacity;
    uint64_t block_bytes;
    bool failed, large; // for want of memory; beyond what offsets can tell
} taper_fbb;

void taper_fbb_start(taper_fbb *b, const taper_allocator *allocator);
void taper_fbb_free(taper_fbb *b);

// ---- tables: fields are added between start and end. One that has its default is left out.

void taper_fbb_table(taper_fbb *b);
void taper_fbb_number(taper_fbb *b, unsigned slot, unsigned width, uint64_t value, uint64_t otherwise);
// A number that is written whatever it is; its place, for taper_fbb_patch.
taper_fbb_ref taper_fbb_place(taper_fbb *b, unsigned slot, uint32_t value);
void taper_fbb_refer(taper_fbb *b, unsigned slot, taper_fbb_ref target); // target 0: absent
taper_fbb_ref taper_fbb_table_end(taper_fbb *b);
void taper_fbb_patch(taper_fbb *b, taper_fbb_ref place, uint32_t value);

// ---- what tables refer to

// A struct or the items of a vector as the caller writes them into the room, little-endian; NULL after a failure. The
// room is good until the next call.
taper_fbb_ref taper_fbb_struct(taper_fbb *b, size_t size, size_t alignment, uint8_t **room);
taper_fbb_ref taper_fbb_vector(taper_fbb *b, size_t count, size_t width, size_t alignment, uint8_t **room);
taper_fbb_ref taper_fbb_u32s(taper_fbb *b, const uint32_t *items, size_t count);
taper_fbb_ref taper_fbb_refs(taper_fbb *b, const taper_fbb_ref *targets, size_t count);
taper_fbb_ref taper_fbb_string(taper_fbb *b, const char *text, size_t length);
// One string for all that are equal; text stays as it is until the end.
taper_fbb_ref taper_fbb_shared_string(taper_fbb *b, const char *text);
// A vector of bytes, or a string, that stays where it is until the end.
taper_fbb_ref taper_fbb_block_of(taper_fbb *b, const void *data, size_t size, bool text);

// identifier: 4 characters.
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
