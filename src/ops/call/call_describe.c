// SPDX-License-Identifier: BSD-2-Clause
// Describes the arguments of a call for the detail of an error: "self: float32[2, 3], dim: 7".
#include "ops/call/call.h"

enum { MOST_ARGUMENTS = 24, MOST_ITEMS = 8, MOST_CHARACTERS = 40, MOST_DEPTH = 3 };

static void describe_tensor(const taper_tensor *tensor, taper_text *text)
{
    taper_text_string(text, taper_dtype_name((taper_dtype)tensor->dtype));
    taper_text_string(text, "[");
    for (size_t i = 0; i < tensor->rank; i++) {
        taper_text_format(text, "%s%lld", i == 0 ? "" : ", ", (long long)tensor->sizes[i]);
    }
    taper_text_string(text, "]");
}

static void describe(taper_val value, size_t depth, taper_text *text);

static void describe_items(const taper_val *items, size_t count, const char *brackets, size_t depth, taper_text *text)
{
    taper_text_append(text, brackets, 1);
    for (size_t i = 0; i < count && i < MOST_ITEMS && depth < MOST_DEPTH; i++) {
        taper_text_string(text, i == 0 ? "" : ", ");
        describe(items[i], depth + 1, text);
    }
    if (count > MOST_ITEMS || (depth >= MOST_DEPTH && count != 0)) {
        taper_text_format(text, ", … %zu in all", count);
    }
    taper_text_append(text, brackets + 1, 1);
}

static void describe(taper_val value, size_t depth, taper_text *text)
{
    switch (value.tag) {
    case TAPER_TENSOR:
        describe_tensor(value.as.tensor, text);
        break;
    case TAPER_NONE:
        taper_text_string(text, "None");
        break;
    case TAPER_BOOLEAN:
        taper_text_string(text, value.as.i != 0 ? "True" : "False");
        break;
    case TAPER_INT:
        taper_text_format(text, "%lld", (long long)value.as.i);
        break;
    case TAPER_DEVICE: {
        const char *kind = taper_pytorch_device_name((int)(value.as.i >> 8));
        taper_text_string(text, kind != NULL ? kind : "a device");
        break;
    }
    case TAPER_DOUBLE:
        taper_text_double(text, value.as.f);
        break;
    case TAPER_STRING: {
        const taper_string *string = value.as.string;
        const size_t length = taper_min_size(string->length, MOST_CHARACTERS);
        taper_text_format(text, "'%.*s'%s", (int)length, string->data, length < string->length ? "…" : "");
        break;
    }
    case TAPER_LIST:
        describe_items(value.as.list->items, value.as.list->count, "[]", depth, text);
        break;
    case TAPER_TUPLE:
        describe_items(value.as.tuple->items, value.as.tuple->count, "()", depth, text);
        break;
    default:
        taper_val_type_print(value, text);
        break;
    }
}

void taper_call_describe(const taper_schema *schema, const taper_val *args, size_t arg_count, taper_text *text)
{
    for (size_t i = 0; i < arg_count && i < MOST_ARGUMENTS; i++) {
        if (i < schema->arg_count) {
            taper_text_format(text, "%s%s: ", i == 0 ? "" : ", ", schema->args[i].name);
        } else {
            taper_text_string(text, i == 0 ? "" : ", ");
        }
        describe(args[i], 0, text);
    }
}

const char *taper_pytorch_device_name(int kind)
{
    static const char *const names[] = {
        "cpu",   "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",  "fpga", "ort", "xla",           "vulkan",
        "metal", "xpu",  "mps",    "meta",   "hpu",    "ve",    "lazy", "ipu",  NULL,  "privateuseone",
    };
    return kind >= 0 && (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
}

void taper_call_blame(const taper_schema *schema, const taper_val *args, size_t arg_count, taper_error *error)
{
    if (taper_error_status(error) == TAPER_ERROR_RAISED) {
        return;
    }
    taper_error_prefix(error, "%.*s: ", (int)strcspn(schema->text, "("), schema->text);
    taper_text text = taper_text_make(&taper_allocator_system);
    taper_call_describe(schema, args, arg_count, &text);
    taper_error_add_detail(error, "called with %s\n", taper_text_get(&text));
    taper_text_free(&text);
}
