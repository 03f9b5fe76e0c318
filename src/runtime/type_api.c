// SPDX-License-Identifier: BSD-2-Clause
// Declared types for hosts: implements taper_type of taper.h.
#include "ir/type.h"

taper_type_kind taper_type_kind_of(const taper_type *type)
{
    return type != NULL ? (taper_type_kind)type->kind : TAPER_TYPE_ANY;
}

size_t taper_type_count(const taper_type *type)
{
    return type != NULL ? type->count : 0;
}

const taper_type *taper_type_item(const taper_type *type, size_t index)
{
    return index < taper_type_count(type) ? type->items[index] : NULL;
}

const char *taper_type_name(const taper_type *type)
{
    return type != NULL ? type->name : NULL;
}

const char *taper_type_field(const taper_type *type, size_t index)
{
    return index < taper_type_count(type) && type->fields != NULL ? type->fields[index] : NULL;
}

size_t taper_type_text(const taper_type *type, char *text, size_t size)
{
    taper_text printed = taper_text_make(&taper_allocator_system);
    taper_type_print(type != NULL ? type : &taper_type_any, &printed);
    const size_t length = taper_text_copy(&printed, text, size);
    taper_text_free(&printed);
    return length;
}
