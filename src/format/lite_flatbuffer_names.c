// SPDX-License-Identifier: BSD-2-Clause
// Finds the names, types and values to which the tables of a flatbuffer refer. A name or type that occurs several times
// is made once.
#include "format/lite_flatbuffer.h"

static bool same_name(const void *item, const void *key)
{
    return ((const taper_fb_name *)item)->at == *(const size_t *)key;
}

taper_status taper_fb_name_at(taper_fb_reader *r, size_t at, taper_fb_name **name)
{
    const uint64_t hash = taper_hash_bytes(0, &at, sizeof at);
    const taper_lookup_entry *known = taper_lookup_find(&r->names, hash, same_name, &at);
    if (known != NULL) {
        // The map's items are const, but this item was allocated below and may be changed.
        *name = (taper_fb_name *)(uintptr_t)known->item;
        return TAPER_OK;
    }
    taper_fb_string string;
    TAPER_TRY(taper_fb_string_at(&r->fb, at, &string));
    if (memchr(string.text, '\0', string.length) != NULL) {
        return taper_fb_damaged(&r->fb, at, "a name holds a zero byte");
    }
    taper_fb_name *made = taper_arena_alloc(&r->module->arena, sizeof *made);
    const char *text = taper_arena_string(&r->module->arena, string.text, string.length);
    if (made == NULL || text == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    *made = (taper_fb_name){.at = at, .text = text, .length = string.length};
    (void)taper_lookup_add(r->module->allocator, &r->names, hash, made);
    *name = made;
    return TAPER_OK;
}

taper_status taper_fb_name_in(taper_fb_reader *r, const taper_fb_table *table, unsigned slot, taper_fb_name **name)
{
    size_t at;
    TAPER_TRY(taper_fb_target(&r->fb, table, slot, &at));
    return taper_fb_name_at(r, at, name);
}

taper_status taper_fb_type_of(taper_fb_reader *r, taper_fb_name *name, const taper_type **type)
{
    if (name->type == NULL) {
        const taper_status status =
            taper_type_parse_in(r->module->types, r->scope, name->text, name->length, &name->type, r->fb.error);
        if (status != TAPER_OK) {
            name->type = NULL;
            return status;
        }
    }
    *type = name->type;
    return TAPER_OK;
}

taper_status taper_fb_value(const taper_fb_reader *r, size_t at, uint32_t index, taper_val *value)
{
    if (index >= r->current) {
        return taper_fb_damaged(&r->fb, at, "value %zu refers to value %lu, which does not come before it", r->current,
                                (unsigned long)index);
    }
    if (r->values[index].tag == TAPER_UNDEFINED) {
        return taper_fb_damaged(&r->fb, at, "value %zu uses the function %lu as a value", r->current,
                                (unsigned long)index);
    }
    *value = r->values[index];
    return TAPER_OK;
}
