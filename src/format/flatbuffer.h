// SPDX-License-Identifier: BSD-2-Clause
// Bounds-checked reading of flatbuffers, without a schema compiler: the caller knows the slots.
//   file    u32 offset of the root table, 4 bytes of identifier
//   table   i32 distance back to its vtable, then the fields
//   vtable  u16 own size, u16 size of the table, then per slot the u16 place of the field in the table, 0 if absent
//   vector  u32 count, then the items; a string is a vector of bytes
// A reference to a table, vector, string or union is a u32 offset forward from its own position. Alignment is not
// required. Nothing here recurses.
//
// Parts of a hostile file can overlap, so a few bytes can stand for many. Every vector and string that is lent is
// charged to a budget. A file whose parts do not overlap cannot use it up.
#ifndef TAPER_FORMAT_FLATBUFFER_H
#define TAPER_FORMAT_FLATBUFFER_H

#include "base/status.h"

typedef struct taper_flatbuffer {
    const uint8_t *data;
    size_t size;
    uint64_t budget; // bytes that may still be lent
    taper_error *error;
} taper_flatbuffer;

typedef struct taper_fb_table {
    size_t at, vtable;
    uint16_t size, vtable_size;
} taper_fb_table;

typedef struct taper_fb_vector {
    size_t at; // position of the first item
    size_t count;
} taper_fb_vector;

typedef struct taper_fb_string {
    const char *text; // in the file's bytes, not NUL-terminated
    size_t length;
} taper_fb_string;

// Fails with the position and "the flatbuffer module is damaged: TEXT".
TAPER_COLD taper_status taper_fb_damaged(const taper_flatbuffer *fb, size_t at, const char *format, ...)
    TAPER_PRINTF(3, 4);
// Charges bytes to the budget. Fails if it is spent.
TAPER_MUST_USE taper_status taper_fb_charge(taper_flatbuffer *fb, size_t at, uint64_t bytes);

TAPER_MUST_USE taper_status taper_fb_open(taper_flatbuffer *fb, const void *data, size_t size, taper_fb_table *root,
                                          taper_error *error);
// Lends n bytes at a position.
TAPER_MUST_USE taper_status taper_fb_bytes(const taper_flatbuffer *fb, size_t at, size_t n, const uint8_t **bytes);
TAPER_MUST_USE taper_status taper_fb_table_at(const taper_flatbuffer *fb, size_t at, taper_fb_table *table);

// Reads a number of 1 to 8 bytes as it is stored. If the field is absent, *value does not change.
TAPER_MUST_USE taper_status taper_fb_number(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                            unsigned width, uint64_t *value);
// Returns the position that a field's offset refers to, or 0 if the field is absent.
TAPER_MUST_USE taper_status taper_fb_target(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                            size_t *at);
// Reads the table in a field. *present is false if the field is absent. If present is NULL, the field is required.
TAPER_MUST_USE taper_status taper_fb_child(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                           taper_fb_table *child, bool *present);
// Reads the vector in a field, with items of `item` bytes. An absent field gives an empty vector.
TAPER_MUST_USE taper_status taper_fb_vector_in(taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                               size_t item, taper_fb_vector *vector);
// Reads the string at a position. Position 0 gives an empty string.
TAPER_MUST_USE taper_status taper_fb_string_at(taper_flatbuffer *fb, size_t at, taper_fb_string *string);
// Reads the string in a field. An absent field gives an empty string.
TAPER_MUST_USE taper_status taper_fb_string_in(taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                               taper_fb_string *string);

// Read an item of a vector of offsets. index must be below count.
TAPER_MUST_USE taper_status taper_fb_item_target(const taper_flatbuffer *fb, const taper_fb_vector *vector,
                                                 size_t index, size_t *at);
TAPER_MUST_USE taper_status taper_fb_item_table(const taper_flatbuffer *fb, const taper_fb_vector *vector, size_t index,
                                                taper_fb_table *table);
// Returns an item of a vector of numbers.
static inline const uint8_t *taper_fb_item(const taper_flatbuffer *fb, const taper_fb_vector *vector, size_t index,
                                           size_t item)
{
    return fb->data + vector->at + index * item; // the vector's bounds were checked when it was read
}

#endif
