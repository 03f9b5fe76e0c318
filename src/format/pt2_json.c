// SPDX-License-Identifier: BSD-2-Clause
// Reads records of JSON in a .pt2 file: members, items, texts and numbers.
#include <math.h>
#include <stdio.h>

#include "base/charge.h"
#include "format/pt2_parts.h"

taper_status taper_pt2_fail(taper_pt2 *r, taper_status status, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const uint64_t at = r->json.base + (uint64_t)(r->json.at - r->json.begin);
    return taper_fail_at(r->error, status, (int64_t)at, "%s: %s", r->json.what, text);
}

taper_status taper_pt2_members(taper_pt2 *r, taper_pt2_member *read, void *to)
{
    TAPER_TRY(taper_json_enter(&r->json, TAPER_JSON_OBJECT));
    for (;;) {
        taper_json_text name;
        taper_json_kind kind;
        bool more;
        TAPER_TRY(taper_json_member(&r->json, &name, &more));
        if (!more) {
            return TAPER_OK;
        }
        TAPER_TRY(taper_json_peek(&r->json, &kind));
        TAPER_TRY(kind == TAPER_JSON_NULL ? taper_json_take_null(&r->json) : read(r, &name, to));
    }
}

taper_status taper_pt2_items(taper_pt2 *r, taper_json_kind kind, taper_pt2_item *read, const void *how,
                             size_t item_size, taper_pt2_array *array)
{
    const size_t start = r->scratch_count;
    TAPER_TRY(taper_json_enter(&r->json, kind));
    for (size_t count = 0;; count++) {
        union {
            max_align_t align;
            char bytes[TAPER_PT2_ITEM];
        } item;
        const char *name = NULL;
        taper_json_text text;
        bool more;
        TAPER_TRY(kind == TAPER_JSON_ARRAY ? taper_json_next(&r->json, &more)
                                           : taper_json_member(&r->json, &text, &more));
        if (!more) {
            array->count = count;
            break;
        }
        if (kind == TAPER_JSON_OBJECT) {
            TAPER_TRY(taper_pt2_keep(r, &text, &name, NULL));
        }
        memset(&item, 0, sizeof item);
        TAPER_TRY(read(r, name, how, &item));
        TAPER_TRY(
            TAPER_GROW(r->module->allocator, r->scratch, r->scratch_capacity, r->scratch_count + item_size, r->error));
        if (item_size != 0) { // if no item is kept, `scratch` may be NULL
            memcpy(r->scratch + r->scratch_count, &item, item_size);
            r->scratch_count += item_size;
        }
    }
    array->items = taper_arena_array(&r->module->arena, array->count, item_size);
    if (array->items == NULL) {
        return taper_fail_memory(r->error);
    }
    if (array->count * item_size != 0) {
        memcpy(array->items, r->scratch + start, array->count * item_size);
    }
    r->scratch_count = start;
    return TAPER_OK;
}

taper_status taper_pt2_keep(taper_pt2 *r, const taper_json_text *from, const char **text, size_t *length)
{
    char *copy = taper_arena_alloc(&r->module->arena, from->length + 1);
    if (copy == NULL) {
        return taper_fail_memory(r->error);
    }
    const size_t used = taper_json_decode(from, copy);
    *text = copy;
    if (length != NULL) {
        *length = used;
    } else if (memchr(copy, '\0', used) != NULL) {
        return taper_pt2_fail(r, TAPER_ERROR_FILE, "a name with a NUL in it");
    }
    return TAPER_OK;
}

taper_status taper_pt2_text(taper_pt2 *r, const char **text, size_t *length)
{
    taper_json_text from;
    TAPER_TRY(taper_json_take_text(&r->json, &from));
    return taper_pt2_keep(r, &from, text, length);
}

taper_status taper_pt2_text_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    (void)how;
    return taper_pt2_text(r, item, NULL);
}

taper_status taper_pt2_int(taper_pt2 *r, int64_t *number)
{
    taper_json_number found;
    TAPER_TRY(taper_json_take_number(&r->json, &found));
    *number = found.integer;
    return found.whole ? TAPER_OK : taper_json_fail(&r->json, "expected an integer");
}

taper_status taper_pt2_float(taper_pt2 *r, double *number)
{
    taper_json_kind kind;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    if (kind != TAPER_JSON_TEXT) {
        taper_json_number found;
        TAPER_TRY(taper_json_take_number(&r->json, &found));
        *number = found.number;
        return TAPER_OK;
    }
    taper_json_text text;
    TAPER_TRY(taper_json_take_text(&r->json, &text));
    if (taper_json_is(&text, "NaN")) {
        *number = (double)NAN;
        return TAPER_OK;
    }
    *number = taper_json_is(&text, "-Infinity") ? -(double)INFINITY : (double)INFINITY;
    return *number < 0 || taper_json_is(&text, "Infinity") ? TAPER_OK : taper_json_fail(&r->json, "expected a number");
}

taper_status taper_pt2_record(taper_pt2 *r, const taper_zip_entry *entry, taper_status (*read)(taper_pt2 *r))
{
    enum { STEPS_A_BYTE = 2 };
    char name[100];
    (void)snprintf(name, sizeof name, "%.*s", (int)entry->name_length, entry->name);
    taper_record record;
    TAPER_TRY(taper_zip_read(&r->archive.zip, entry, &record, r->error));
    taper_status status = taper_charge(r->module->allocator, (uint64_t)record.size * STEPS_A_BYTE, r->error);
    if (status == TAPER_OK) {
        r->json = taper_json_make(record.data, record.size, record.offset, name, TAPER_LIMIT_JSON_DEPTH, r->error);
        status = read(r);
    }
    if (status == TAPER_OK) {
        status = taper_json_end(&r->json);
    }
    r->json.what = "the program"; // `what` must not keep the record's name, because that name is freed
    taper_record_free(&r->archive.zip, &record);
    return status;
}
