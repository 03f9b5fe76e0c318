// SPDX-License-Identifier: BSD-2-Clause
// Bounds-checked reading of flatbuffers, without a schema compiler: the caller passes slot numbers.
// file    u32 offset of the root table, 4 bytes of identifier
// table   i32 distance back to its vtable, then the fields
// vtable  u16 own size, u16 size of the table, then for each slot the u16 offset of the field in the table, 0 if absent
// vector  u32 count, then the items; a string is a vector of bytes
// A reference to a table, vector, string or union is a u32 offset forward from the reference itself. Alignment is not
// required. No function here is recursive.
//
// Parts of a malicious file can overlap, so a few bytes can be read as a lot of data. Every vector and string that is
// read is charged to a budget. A file whose parts do not overlap cannot exhaust the budget.
#ifndef TAPER_FORMAT_FLATBUFFER_H
#define TAPER_FORMAT_FLATBUFFER_H

#include "base/status.h"

typedef struct taper_flatbuffer {
    const uint8_t *data;
    size_t size;
    uint64_t budget; // bytes that may still be read as vectors and strings
    taper_error *error;
} taper_flatbuffer;

typedef struct taper_fb_table {
    size_t at, vtable;
    uint16_t size, vtable_size;
} taper_fb_table;

typedef struct taper_fb_vector {
    size_t at; // position of the first item in the file, in bytes
    size_t count;
} taper_fb_vector;

typedef struct taper_fb_string {
    const char *text; // text within the file's bytes, not NUL-terminated
    size_t length;
} taper_fb_string;

// Fails with the position and the message "the flatbuffer module is damaged: TEXT".
TAPER_COLD taper_status taper_fb_damaged(const taper_flatbuffer *fb, size_t at, const char *format, ...)
    TAPER_PRINTF(3, 4);
// Charges bytes to the budget. Fails if the budget is spent.
TAPER_MUST_USE taper_status taper_fb_charge(taper_flatbuffer *fb, size_t at, uint64_t bytes);

TAPER_MUST_USE taper_status taper_fb_open(taper_flatbuffer *fb, const void *data, size_t size, taper_fb_table *root,
                                          taper_error *error);
// Sets *bytes to the n bytes at a position of the file, which are borrowed. Fails if they are not all within the file.
TAPER_MUST_USE taper_status taper_fb_bytes(const taper_flatbuffer *fb, size_t at, size_t n, const uint8_t **bytes);
TAPER_MUST_USE taper_status taper_fb_table_at(const taper_flatbuffer *fb, size_t at, taper_fb_table *table);

// Reads the number in a field, which is stored in `width` bytes, 1 to 8. If the field is absent, *value does not
// change.
TAPER_MUST_USE taper_status taper_fb_number(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                            unsigned width, uint64_t *value);
// Returns the position that a field's offset refers to, or 0 if the field is absent.
TAPER_MUST_USE taper_status taper_fb_target(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                            size_t *at);
// Reads the table in a field. *present is false if the field is absent. If `present` is NULL, an absent field is an
// error.
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

// These functions read item `index` of a vector of offsets. `index` must be less than the number of items.
TAPER_MUST_USE taper_status taper_fb_item_target(const taper_flatbuffer *fb, const taper_fb_vector *vector,
                                                 size_t index, size_t *at);
TAPER_MUST_USE taper_status taper_fb_item_table(const taper_flatbuffer *fb, const taper_fb_vector *vector, size_t index,
                                                taper_fb_table *table);
// Returns a pointer to an item of a vector of numbers.
static inline const uint8_t *taper_fb_item(const taper_flatbuffer *fb, const taper_fb_vector *vector, size_t index,
                                           size_t item)
{
    return fb->data + vector->at + index * item; // the vector's bounds were checked when it was read
}

#endif
