// SPDX-License-Identifier: BSD-2-Clause
// Bounds-checked reading of flatbuffers.
#include "format/flatbuffer.h"

#include <stdio.h>

#include "base/reader.h"

enum { SLACK = 1 << 16, SHARING = 4 };

taper_status taper_fb_damaged(const taper_flatbuffer *fb, size_t at, const char *format, ...)
{
    char line[400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return taper_fail_at(fb->error, TAPER_ERROR_FILE, (int64_t)at, "the flatbuffer module is damaged: %s", line);
}

taper_status taper_fb_charge(taper_flatbuffer *fb, size_t at, uint64_t bytes)
{
    if (bytes > fb->budget) {
        return taper_fb_damaged(fb, at, "its parts overlap too much");
    }
    fb->budget -= bytes;
    return TAPER_OK;
}

taper_status taper_fb_bytes(const taper_flatbuffer *fb, size_t at, size_t n, const uint8_t **bytes)
{
    if (at > fb->size || n > fb->size - at) {
        (void)taper_fb_damaged(fb, at, "%zu bytes wanted beyond the end of the file (%zu bytes)", n, fb->size);
        return TAPER_ERROR_FILE; // a constant, because compilers otherwise warn that *bytes may be unset
    }
    *bytes = fb->data + at;
    return TAPER_OK;
}

static taper_status follow(const taper_flatbuffer *fb, size_t at, size_t *target)
{
    const uint8_t *bytes;
    TAPER_TRY(taper_fb_bytes(fb, at, 4, &bytes));
    const uint32_t offset = taper_load_u32(bytes);
    if (offset == 0 || offset >= fb->size - at) {
        return taper_fb_damaged(fb, at, "an offset leads outside of the file");
    }
    *target = at + offset;
    return TAPER_OK;
}

taper_status taper_fb_table_at(const taper_flatbuffer *fb, size_t at, taper_fb_table *table)
{
    const uint8_t *bytes;
    TAPER_TRY(taper_fb_bytes(fb, at, 4, &bytes));
    const int64_t vtable = (int64_t)at - (int32_t)taper_load_u32(bytes);
    if (vtable < 0 || (uint64_t)vtable >= fb->size) {
        return taper_fb_damaged(fb, at, "a table without a description");
    }
    table->at = at;
    table->vtable = (size_t)vtable;
    TAPER_TRY(taper_fb_bytes(fb, table->vtable, 4, &bytes));
    table->vtable_size = taper_load_u16(bytes);
    table->size = taper_load_u16(bytes + 2);
    if (table->vtable_size < 4 || table->vtable_size % 2 != 0 || table->size < 4) {
        return taper_fb_damaged(fb, table->vtable, "a table's description of %d bytes", table->vtable_size);
    }
    TAPER_TRY(taper_fb_bytes(fb, table->vtable, table->vtable_size, &bytes));
    return taper_fb_bytes(fb, at, table->size, &bytes);
}

taper_status taper_fb_open(taper_flatbuffer *fb, const void *data, size_t size, taper_fb_table *root,
                           taper_error *error)
{
    *fb = (taper_flatbuffer){.data = data, .size = size, .budget = SHARING * (uint64_t)size + SLACK, .error = error};
    size_t at;
    TAPER_TRY(follow(fb, 0, &at));
    return taper_fb_table_at(fb, at, root);
}

// Finds the position of a field of `width` bytes. *at is 0 if the field is absent; no field is at position 0.
static taper_status field(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot, size_t width,
                          size_t *at)
{
    *at = 0;
    const size_t entry = 4 + 2 * (size_t)slot;
    if (entry + 2 > table->vtable_size) {
        return TAPER_OK;
    }
    const size_t offset = taper_load_u16(fb->data + table->vtable + entry);
    if (offset == 0) {
        return TAPER_OK;
    }
    if (offset < 4 || offset + width > table->size) {
        return taper_fb_damaged(fb, table->at, "field %u lies outside of its table", slot);
    }
    *at = table->at + offset;
    return TAPER_OK;
}

taper_status taper_fb_number(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot, unsigned width,
                             uint64_t *value)
{
    size_t at;
    TAPER_TRY(field(fb, table, slot, width, &at));
    if (at != 0) {
        uint64_t number = 0;
        for (unsigned i = width; i-- > 0;) {
            number = number << 8 | fb->data[at + i];
        }
        *value = number;
    }
    return TAPER_OK;
}

taper_status taper_fb_target(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot, size_t *at)
{
    TAPER_TRY(field(fb, table, slot, 4, at));
    return *at != 0 ? follow(fb, *at, at) : TAPER_OK;
}

taper_status taper_fb_child(const taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                            taper_fb_table *child, bool *present)
{
    size_t at;
    TAPER_TRY(taper_fb_target(fb, table, slot, &at));
    if (present != NULL) {
        *present = at != 0;
    } else if (at == 0) {
        return taper_fb_damaged(fb, table->at, "field %u is missing", slot);
    }
    return at != 0 ? taper_fb_table_at(fb, at, child) : TAPER_OK;
}

static taper_status vector_at(taper_flatbuffer *fb, size_t at, size_t item, taper_fb_vector *vector)
{
    const uint8_t *bytes;
    TAPER_TRY(taper_fb_bytes(fb, at, 4, &bytes));
    vector->at = at + 4;
    vector->count = taper_load_u32(bytes);
    if (vector->count > (fb->size - vector->at) / item) {
        return taper_fb_damaged(fb, at, "a vector of %zu items reaches beyond the end of the file", vector->count);
    }
    return taper_fb_charge(fb, at, (uint64_t)vector->count * item);
}

taper_status taper_fb_vector_in(taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot, size_t item,
                                taper_fb_vector *vector)
{
    size_t at;
    *vector = (taper_fb_vector){.count = 0};
    TAPER_TRY(taper_fb_target(fb, table, slot, &at));
    return at != 0 ? vector_at(fb, at, item, vector) : TAPER_OK;
}

taper_status taper_fb_string_at(taper_flatbuffer *fb, size_t at, taper_fb_string *string)
{
    *string = (taper_fb_string){.text = "", .length = 0};
    if (at != 0) {
        taper_fb_vector vector;
        TAPER_TRY(vector_at(fb, at, 1, &vector));
        *string = (taper_fb_string){.text = (const char *)fb->data + vector.at, .length = vector.count};
    }
    return TAPER_OK;
}

taper_status taper_fb_string_in(taper_flatbuffer *fb, const taper_fb_table *table, unsigned slot,
                                taper_fb_string *string)
{
    size_t at;
    TAPER_TRY(taper_fb_target(fb, table, slot, &at));
    return taper_fb_string_at(fb, at, string);
}

taper_status taper_fb_item_target(const taper_flatbuffer *fb, const taper_fb_vector *vector, size_t index, size_t *at)
{
    return follow(fb, vector->at + 4 * index, at);
}

taper_status taper_fb_item_table(const taper_flatbuffer *fb, const taper_fb_vector *vector, size_t index,
                                 taper_fb_table *table)
{
    size_t at;
    TAPER_TRY(follow(fb, vector->at + 4 * index, &at));
    return taper_fb_table_at(fb, at, table);
}
