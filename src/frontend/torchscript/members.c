// SPDX-License-Identifier: BSD-2-Clause
// Finds attributes, fields, enum members and methods of a class by name. A class may have thousands of members, and a
// file may use the last of them thousands of times. A sorted table is therefore made for large classes when they are
// parsed.
#include "format/name_sort.h"
#include "frontend/torchscript/ast.h"

enum { FEW = 8 };

// An attribute or method in a table sorted by name.
struct taper_ts_named {
    uint32_t atom, index;
    taper_ts_function *method; // the method; NULL in a table of attributes
};

static int compare_named(const void *a, const void *b)
{
    const uint32_t x = ((const taper_ts_named *)a)->atom, y = ((const taper_ts_named *)b)->atom;
    return (x > y) - (x < y);
}

// Returns the first entry with this name, or NULL if there is none.
static const taper_ts_named *find(const taper_ts_named *table, uint32_t count, uint32_t atom)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (table[middle].atom < atom) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && table[low].atom == atom ? &table[low] : NULL;
}

static taper_status make_table(const taper_ts_parse *parse, uint32_t count, taper_ts_named **table)
{
    *table = taper_arena_array(parse->arena, count, sizeof **table);
    return *table != NULL ? TAPER_OK : taper_fail_memory(parse->error);
}

taper_status taper_ts_index_members(const taper_ts_parse *parse, taper_ts_definition *class)
{
    int32_t slots = 0;
    for (uint32_t i = 0; i < class->attribute_count; i++) {
        class->attributes[i].slot = slots;
        slots += class->attributes[i].value == NULL;
    }
    if (class->attribute_count > FEW) {
        taper_ts_named *table;
        TAPER_TRY(make_table(parse, class->attribute_count, &table));
        for (uint32_t i = 0; i < class->attribute_count; i++) {
            table[i] = (taper_ts_named){.atom = class->attributes[i].atom, .index = i};
        }
        TAPER_TRY(
            taper_sort(parse->allocator, table, class->attribute_count, sizeof *table, compare_named, parse->error));
        class->attributes_by_name = table;
    }
    if (class->method_count > FEW) {
        taper_ts_named *table;
        uint32_t i = 0;
        TAPER_TRY(make_table(parse, class->method_count, &table));
        for (taper_ts_function *f = class->function; f != NULL; f = f->next) {
            table[i++] = (taper_ts_named){.atom = f->atom, .method = f};
        }
        TAPER_TRY(taper_sort(parse->allocator, table, class->method_count, sizeof *table, compare_named, parse->error));
        class->methods_by_name = table;
    }
    return TAPER_OK;
}

taper_ts_attribute *taper_ts_attribute_named(const taper_ts_definition *class, uint32_t atom)
{
    if (class->attributes_by_name != NULL) {
        const taper_ts_named *found = find(class->attributes_by_name, class->attribute_count, atom);
        return found != NULL ? &class->attributes[found->index] : NULL;
    }
    for (uint32_t i = 0; i < class->attribute_count; i++) {
        if (class->attributes[i].atom == atom) {
            return &class->attributes[i];
        }
    }
    return NULL;
}

const taper_ts_attribute *taper_ts_attribute_in(const taper_ts_definition *class, int64_t slot)
{
    // Finds the last attribute with this slot number. Finals before it have the same number, but no slot.
    uint32_t low = 0, high = class->attribute_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (class->attributes[middle].slot <= slot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const taper_ts_attribute *last = low != 0 ? &class->attributes[low - 1] : NULL;
    return last != NULL && last->slot == slot && last->value == NULL ? last : NULL;
}

taper_ts_function *taper_ts_method(const taper_ts_definition *class, uint32_t atom)
{
    if (class->methods_by_name != NULL) {
        const taper_ts_named *found = find(class->methods_by_name, class->method_count, atom);
        return found != NULL ? found->method : NULL;
    }
    taper_ts_function *method = class->function;
    while (method != NULL && method->atom != atom) {
        method = method->next;
    }
    return method;
}
