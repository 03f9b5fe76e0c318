// SPDX-License-Identifier: BSD-2-Clause
// Reads the facts about a tensor in a .pt2 file. Also converts dtypes, layouts and memory formats.
#include <stdio.h>

#include "format/pt2_parts.h"

// The arguments of X are: name in the schema, number in the schema, number that PyTorch's operators use, PyTorch's
// name.
// clang-format off
#define DTYPES(X) \
    X("BYTE", 1, 0, "uint8") \
    X("CHAR", 2, 1, "int8") \
    X("SHORT", 3, 2, "int16") \
    X("INT", 4, 3, "int32") \
    X("LONG", 5, 4, "int64") \
    X("HALF", 6, 5, "float16") \
    X("FLOAT", 7, 6, "float32") \
    X("DOUBLE", 8, 7, "float64") \
    X("COMPLEXHALF", 9, 8, "complex32") \
    X("COMPLEXFLOAT", 10, 9, "complex64") \
    X("COMPLEXDOUBLE", 11, 10, "complex128") \
    X("BOOL", 12, 11, "bool") \
    X("BFLOAT16", 13, 15, "bfloat16") \
    X("UINT16", 28, 27, "uint16") \
    X("FLOAT8E4M3FN", 29, 24, "float8_e4m3fn") \
    X("FLOAT8E5M2", 30, 23, "float8_e5m2") \
    X("FLOAT8E4M3FNUZ", 31, 26, "float8_e4m3fnuz") \
    X("FLOAT8E5M2FNUZ", 32, 25, "float8_e5m2fnuz") \
    X("FLOAT8E8M0FNU", 33, 44, "float8_e8m0fnu") \
    X("UINT32", 34, 28, "uint32") \
    X("UINT64", 35, 29, "uint64")
#define MEMORY_FORMATS(X) \
    X("ContiguousFormat", 1, 0, "") \
    X("ChannelsLast", 2, 2, "") \
    X("ChannelsLast3d", 3, 3, "") \
    X("PreserveFormat", 4, 1, "")
#define LAYOUTS(X) \
    X("SparseCoo", 1, 1, "") \
    X("SparseCsr", 2, 2, "") \
    X("SparseCsc", 3, 4, "") \
    X("SparseBsr", 4, 5, "") \
    X("SparseBsc", 5, 6, "") \
    X("_mkldnn", 6, 3, "") \
    X("Strided", 7, 0, "")
// clang-format on
#define NAMES(name, schema, number, pytorch) name "\0"
#define NUMBERS(name, schema, number, pytorch) {schema, number},
#define PYTORCH(name, schema, number, pytorch) pytorch "\0"

typedef struct row {
    uint8_t schema, number;
} row;

static const row dtypes[] = {DTYPES(NUMBERS)}, memory_formats[] = {MEMORY_FORMATS(NUMBERS)},
                 layouts[] = {LAYOUTS(NUMBERS)};
// All names in one string, in the order of the lists, which avoids pointers that need relocation.
static const char dtype_names[] = DTYPES(NAMES), memory_format_names[] = MEMORY_FORMATS(NAMES),
                  layout_names[] = LAYOUTS(NAMES), pytorch_names[] = DTYPES(PYTORCH);

const char *taper_pt2_dtype_name(int dtype)
{
    const char *name = pytorch_names;
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (dtypes[i].number == dtype) {
            return name;
        }
        name += strlen(name) + 1;
    }
    return "unknown";
}

taper_status taper_pt2_enum_read(taper_pt2 *r, taper_pt2_enum kind, int *number)
{
    static const struct {
        const row *rows;
        const char *names;
        uint8_t count;
        char what[14];
    } tables[] = {
        {dtypes, dtype_names, sizeof dtypes / sizeof dtypes[0], "dtype"},
        {memory_formats, memory_format_names, sizeof memory_formats / sizeof memory_formats[0], "memory format"},
        {layouts, layout_names, sizeof layouts / sizeof layouts[0], "layout"},
    };
    taper_json_kind json;
    taper_json_text text = {.at = NULL};
    int64_t schema = 0;
    TAPER_TRY(taper_json_peek(&r->json, &json));
    TAPER_TRY(json == TAPER_JSON_TEXT ? taper_json_take_text(&r->json, &text) : taper_pt2_int(r, &schema));
    const char *name = tables[kind].names;
    for (size_t i = 0; i < tables[kind].count; i++) {
        if (text.at != NULL ? taper_json_is(&text, name) : tables[kind].rows[i].schema == schema) {
            *number = tables[kind].rows[i].number;
            return TAPER_OK;
        }
        name += strlen(name) + 1;
    }
    if (text.at != NULL) {
        return taper_pt2_fail(r, TAPER_ERROR_UNSUPPORTED, "%s \"%.*s\" is not known", tables[kind].what,
                              (int)taper_min_size(text.length, 100), text.at);
    }
    return taper_pt2_fail(r, TAPER_ERROR_UNSUPPORTED, "%s %lld is not known", tables[kind].what, (long long)schema);
}

// ---- devices

typedef struct device {
    taper_json_text type;
    int64_t index;
} device;

static taper_status device_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    device *d = to;
    if (taper_json_is(name, "type")) {
        return taper_json_take_text(&r->json, &d->type);
    }
    return taper_json_is(name, "index") ? taper_pt2_int(r, &d->index) : taper_json_skip(&r->json);
}

taper_status taper_pt2_device_read(taper_pt2 *r, const char **text)
{
    device d = {.index = -1};
    char name[80] = "";
    TAPER_TRY(taper_pt2_members(r, device_member, &d));
    const size_t length = d.type.length < 40 ? d.type.length : 0;
    if (length == 0 || d.type.escaped) {
        return taper_pt2_fail(r, TAPER_ERROR_FILE, "a device without a proper type");
    }
    if (d.index >= 0) {
        (void)snprintf(name, sizeof name, "%.*s:%lld", (int)length, d.type.at, (long long)d.index);
    } else {
        (void)snprintf(name, sizeof name, "%.*s", (int)length, d.type.at);
    }
    *text = taper_arena_string(&r->module->arena, name, strlen(name));
    return *text != NULL ? TAPER_OK : taper_fail_memory(r->error);
}

// ---- symbolic numbers: {"as_int": 3}, {"as_expr": {"expr_str": TEXT, "hint": …}}, in the first schema also 3 and TEXT

static taper_status expression_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    return taper_json_is(name, "expr_str") ? taper_pt2_text(r, to, NULL) : taper_json_skip(&r->json);
}

static taper_status number_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_number *number = to;
    if (taper_json_is(name, "as_expr")) {
        taper_json_kind kind;
        TAPER_TRY(taper_json_peek(&r->json, &kind));
        number->expression = "";
        return kind == TAPER_JSON_TEXT ? taper_pt2_text(r, &number->expression, NULL)
                                       : taper_pt2_members(r, expression_member, &number->expression);
    }
    if (taper_json_is(name, "as_int")) {
        return taper_pt2_int(r, &number->as.i);
    }
    if (taper_json_is(name, "as_float")) {
        return taper_pt2_float(r, &number->as.f);
    }
    if (taper_json_is(name, "as_bool")) {
        bool flag;
        TAPER_TRY(taper_json_take_bool(&r->json, &flag));
        number->as.i = flag;
        return TAPER_OK;
    }
    return taper_pt2_fail(r, TAPER_ERROR_UNSUPPORTED, "a number of the kind \"%.*s\", which is not known",
                          (int)taper_min_size(name->length, 100), name->at);
}

taper_status taper_pt2_number_read(taper_pt2 *r, taper_pt2_number *number)
{
    taper_json_kind kind;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    return kind == TAPER_JSON_INT ? taper_pt2_int(r, &number->as.i) : taper_pt2_members(r, number_member, number);
}

static taper_status number_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    (void)name;
    (void)how;
    return taper_pt2_number_read(r, item);
}

// ---- tensors

typedef struct meta_reader {
    taper_pt2_meta *meta;
    taper_pt2_array sizes, strides;
} meta_reader;

static taper_status meta_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    meta_reader *m = to;
    if (taper_json_is(name, "dtype")) {
        return taper_pt2_enum_read(r, TAPER_PT2_ENUM_DTYPE, &m->meta->dtype);
    }
    if (taper_json_is(name, "sizes")) {
        return taper_pt2_items(r, TAPER_JSON_ARRAY, number_item, NULL, sizeof(taper_pt2_number), &m->sizes);
    }
    if (taper_json_is(name, "strides")) {
        return taper_pt2_items(r, TAPER_JSON_ARRAY, number_item, NULL, sizeof(taper_pt2_number), &m->strides);
    }
    if (taper_json_is(name, "requires_grad")) {
        return taper_json_take_bool(&r->json, &m->meta->requires_grad);
    }
    if (taper_json_is(name, "device")) {
        return taper_pt2_device_read(r, &m->meta->device);
    }
    if (taper_json_is(name, "storage_offset")) {
        return taper_pt2_number_read(r, &m->meta->offset);
    }
    if (taper_json_is(name, "layout")) {
        return taper_pt2_enum_read(r, TAPER_PT2_ENUM_LAYOUT, &m->meta->layout);
    }
    if (taper_json_is(name, "meta")) { // in the first schema, the facts are in the object's member "meta"
        return taper_pt2_members(r, meta_member, to);
    }
    return taper_json_skip(&r->json);
}

taper_status taper_pt2_meta_read(taper_pt2 *r, taper_pt2_meta *meta)
{
    *meta = (taper_pt2_meta){.dtype = -1, .device = "cpu"};
    meta_reader m = {.meta = meta};
    TAPER_TRY(taper_pt2_members(r, meta_member, &m));
    if (m.sizes.count > TAPER_MAX_RANK) {
        return taper_pt2_fail(r, TAPER_ERROR_UNSUPPORTED, "a tensor of %zu dimensions: at most %d are supported",
                              m.sizes.count, TAPER_MAX_RANK);
    }
    meta->rank = m.sizes.count;
    meta->sizes = m.sizes.items;
    meta->strides = m.strides.count == m.sizes.count ? m.strides.items : NULL;
    return TAPER_OK;
}
