// SPDX-License-Identifier: BSD-2-Clause
// Parses constants and types of the exact form, such as 1, 2.5, "text", True, None, (1, 2), <Tensor float32 [2] = 1.0,
// 2.0>, <Tensor float32 [8, 8] seed 3>, <frozen List[int]: 1, 2>, <Dict: "a": 1>, <Object __torch__.M: 1, 2>.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/half.h"
#include "ir/tensor.h"
#include "tests/passes/graph_parse.h"

taper_status read_failed(graph_reader *r, const char *expected)
{
    TAPER_FAIL(r->error, TAPER_ERROR_ARGUMENT, "line %d: expected %s at \"%.30s\"", r->line, expected, r->text);
}

static void skip_blanks(graph_reader *r)
{
    for (;; r->text++) {
        if (*r->text == '#') {
            r->text += strcspn(r->text, "\n");
        }
        if (*r->text == '\n') {
            r->line++;
        } else if (*r->text != ' ') {
            return;
        }
    }
}

bool read_token(graph_reader *r, const char *token)
{
    skip_blanks(r);
    const size_t length = strlen(token);
    if (strncmp(r->text, token, length) != 0) {
        return false;
    }
    // A token that is a word must not be the beginning of a longer word.
    if (isalnum((unsigned char)token[length - 1]) && isalnum((unsigned char)r->text[length])) {
        return false;
    }
    r->text += length;
    return true;
}

size_t read_name(graph_reader *r, const char **name)
{
    skip_blanks(r);
    *name = r->text;
    while (isalnum((unsigned char)*r->text) || (*r->text != '\0' && strchr("._", *r->text) != NULL) ||
           (*r->text == ':' && (r->text[1] == ':' || (r->text != *name && r->text[-1] == ':')))) {
        r->text++;
    }
    return (size_t)(r->text - *name);
}

taper_status read_type(graph_reader *r, const taper_type **type)
{
    const char *start;
    size_t length = read_name(r, &start);
    if (length == 0) {
        return read_failed(r, "a type");
    }
    if (*r->text == '[') {
        int depth = 0;
        do {
            depth += *r->text == '[' ? 1 : *r->text == ']' ? -1 : 0;
            r->text++;
        } while (depth != 0 && *r->text != '\0' && *r->text != '\n');
        length = (size_t)(r->text - start);
    }
    const taper_status status = taper_type_parse(r->types, start, length, type, r->error);
    if (status != TAPER_OK) {
        taper_error_prefix(r->error, "line %d: ", r->line);
    }
    return status;
}

static taper_status read_number(graph_reader *r, taper_val *value)
{
    char *whole, *real;
    skip_blanks(r);
    const long long integer = strtoll(r->text, &whole, 10);
    const double number = strtod(r->text, &real);
    if (real == r->text) {
        return read_failed(r, "a value");
    }
    *value = real > whole ? taper_val_double(number) : taper_val_int(integer);
    r->text = real > whole ? real : whole;
    return TAPER_OK;
}

static taper_status read_string(graph_reader *r, taper_val *value)
{
    taper_text text = taper_text_make(r->allocator);
    for (; *r->text != '"'; r->text++) {
        char c = *r->text;
        if (c == '\0' || c == '\n') {
            taper_text_free(&text);
            return read_failed(r, "the end of a string");
        }
        if (c == '\\') {
            c = *++r->text;
            unsigned code;
            if (c == 'x' && sscanf(r->text + 1, "%2x", &code) == 1) {
                c = (char)code;
                r->text += 2;
            }
        }
        taper_text_append(&text, &c, 1);
    }
    r->text++;
    taper_string *string = taper_string_new(r->heap, taper_text_get(&text), text.length);
    taper_text_free(&text);
    if (string == NULL) {
        return taper_fail_memory(r->error);
    }
    *value = TAPER_VAL(string);
    return TAPER_OK;
}

// Appends values to the list, up to the closing token.
static taper_status read_items(graph_reader *r, const char *close, taper_list *list)
{
    while (!read_token(r, close)) {
        if (list->count != 0 && !read_token(r, ",")) {
            return read_failed(r, "\",\"");
        }
        taper_val item;
        bool frozen;
        TAPER_TRY(read_value(r, &item, &frozen));
        TAPER_TRY(taper_list_append(list, item, r->error));
    }
    return TAPER_OK;
}

static void put_element(taper_tensor *tensor, int64_t at, double number)
{
    void *data = taper_tensor_mutable(tensor);
    switch ((taper_dtype)tensor->dtype) {
    case TAPER_F32:
        ((float *)data)[at] = (float)number;
        break;
    case TAPER_F64:
        ((double *)data)[at] = number;
        break;
    case TAPER_F16:
        ((uint16_t *)data)[at] = taper_float_to_f16((float)number);
        break;
    case TAPER_BF16:
        ((uint16_t *)data)[at] = taper_float_to_bf16((float)number);
        break;
    case TAPER_I64:
        ((int64_t *)data)[at] = (int64_t)number;
        break;
    case TAPER_I32:
        ((int32_t *)data)[at] = (int32_t)number;
        break;
    default:
        ((uint8_t *)data)[at] = (uint8_t)(int64_t)number;
    }
}

static taper_status read_elements(graph_reader *r, taper_tensor *tensor)
{
    const int64_t count = taper_tensor_numel(tensor);
    uint32_t seed = 0;
    taper_val number = taper_val_int(0);
    const bool seeded = read_token(r, "seed");
    if (seeded) {
        TAPER_TRY(read_number(r, &number));
        seed = (uint32_t)number.as.i;
    } else if (count != 0 && !read_token(r, "=")) {
        return read_failed(r, "\"= elements\" or \"seed N\"");
    }
    for (int64_t i = 0; i < count; i++) {
        if (seeded) {
            seed = seed * 1664525u + 1013904223u;
            put_element(tensor, i, (double)(seed >> 28) - 8);
            continue;
        }
        if (i != 0 && !read_token(r, ",")) {
            return read_failed(r, "\",\" and another element");
        }
        TAPER_TRY(read_number(r, &number));
        put_element(tensor, i, number.tag == TAPER_DOUBLE ? number.as.f : (double)number.as.i);
    }
    return read_token(r, ">") ? TAPER_OK : read_failed(r, "\">\"");
}

static taper_status read_tensor(graph_reader *r, taper_val *value)
{
    static const taper_dtype dtypes[] = {TAPER_F32, TAPER_F64, TAPER_F16, TAPER_BF16, TAPER_I64,
                                         TAPER_I32, TAPER_U8,  TAPER_I8,  TAPER_BOOL};
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0, d = 0;
    while (d < sizeof dtypes / sizeof *dtypes && !read_token(r, taper_dtype_name(dtypes[d]))) {
        d++;
    }
    if (d == sizeof dtypes / sizeof *dtypes || !read_token(r, "[")) {
        return read_failed(r, "float32, float64, float16, bfloat16, int64, int32, uint8, int8 or bool, and sizes");
    }
    while (!read_token(r, "]")) {
        taper_val size;
        if (rank == TAPER_MAX_RANK || (rank != 0 && !read_token(r, ","))) {
            return read_failed(r, "\"]\"");
        }
        TAPER_TRY(read_number(r, &size));
        sizes[rank++] = size.as.i;
    }
    taper_tensor *tensor;
    TAPER_TRY(taper_tensor_new(r->heap, dtypes[d], rank, sizes, NULL, &tensor, r->error));
    const taper_status status = read_elements(r, tensor);
    if (status != TAPER_OK) {
        taper_obj_release(&tensor->head);
        return status;
    }
    *value = TAPER_VAL(tensor);
    return TAPER_OK;
}

static taper_status read_dict(graph_reader *r, taper_val *value)
{
    taper_dict *dict = taper_dict_new(r->heap, NULL, NULL);
    if (dict == NULL) {
        return taper_fail_memory(r->error);
    }
    *value = TAPER_VAL(dict);
    while (!read_token(r, ">")) {
        taper_val key, item;
        bool frozen;
        if (dict->count != 0 && !read_token(r, ",")) {
            return read_failed(r, "\",\"");
        }
        TAPER_TRY(read_value(r, &key, &frozen));
        if (!read_token(r, ":")) {
            taper_val_release(key);
            return read_failed(r, "\":\"");
        }
        const taper_status status = read_value(r, &item, &frozen);
        if (status != TAPER_OK) {
            taper_val_release(key);
            return status;
        }
        TAPER_TRY(taper_dict_set(dict, key, item, r->error));
    }
    return TAPER_OK;
}

// Makes a tuple from the items of a list, or an object if class_name is not NULL.
static taper_status from_list(graph_reader *r, const taper_list *list, const char *class_name, size_t length,
                              taper_val *value)
{
    if (class_name == NULL) {
        taper_tuple *tuple = taper_tuple_new(r->heap, NULL, list->count);
        if (tuple == NULL) {
            return taper_fail_memory(r->error);
        }
        for (size_t i = 0; i < list->count; i++) {
            tuple->items[i] = taper_val_retain(list->items[i]);
        }
        *value = TAPER_VAL(tuple);
        return TAPER_OK;
    }
    const char *name = taper_types_string(r->types, class_name, length);
    const taper_class *klass = name != NULL ? taper_types_class(r->types, name, 0, NULL) : NULL;
    taper_object *object = klass != NULL ? taper_object_new(r->heap, klass, list->count) : NULL;
    if (object == NULL) {
        return taper_fail_memory(r->error);
    }
    for (size_t i = 0; i < list->count; i++) {
        object->slots[i] = taper_val_retain(list->items[i]);
    }
    *value = TAPER_VAL(object);
    return TAPER_OK;
}

static taper_status read_tuple_or_object(graph_reader *r, bool object, taper_val *value)
{
    const char *name = NULL;
    size_t length = 0;
    if (object) {
        length = read_name(r, &name);
        if (length == 0 || !read_token(r, ":")) {
            return read_failed(r, "the name of a class and \":\"");
        }
    }
    taper_list *items = taper_list_new(r->heap, NULL, 4);
    if (items == NULL) {
        return taper_fail_memory(r->error);
    }
    taper_status status = read_items(r, object ? ">" : ")", items);
    if (status == TAPER_OK) {
        status = from_list(r, items, name, length, value);
    }
    taper_val_release(TAPER_VAL(items));
    return status;
}

static taper_status read_list(graph_reader *r, taper_val *value)
{
    const taper_type *type = NULL;
    if (!read_token(r, "List:")) {
        TAPER_TRY(read_type(r, &type));
        if (type->kind != TAPER_TYPE_LIST || !read_token(r, ":")) {
            return read_failed(r, "Tensor, List, Dict or Object");
        }
    }
    taper_list *list = taper_list_new(r->heap, type != NULL ? type->items[0] : NULL, 4);
    if (list == NULL) {
        return taper_fail_memory(r->error);
    }
    *value = TAPER_VAL(list);
    return read_items(r, ">", list);
}

static taper_status read_any(graph_reader *r, taper_val *value, bool *frozen)
{
    static const struct {
        const char *word;
        taper_val value;
    } words[] = {{"None", {.tag = TAPER_NONE}},
                 {"True", {.tag = TAPER_BOOLEAN, .as.i = 1}},
                 {"False", {.tag = TAPER_BOOLEAN}},
                 {"inf", {.tag = TAPER_DOUBLE, .as.f = INFINITY}},
                 {"nan", {.tag = TAPER_DOUBLE, .as.f = NAN}}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (read_token(r, words[i].word)) {
            *value = words[i].value;
            return TAPER_OK;
        }
    }
    if (read_token(r, "\"")) {
        return read_string(r, value);
    }
    if (read_token(r, "(")) {
        return read_tuple_or_object(r, false, value);
    }
    if (!read_token(r, "<")) {
        return read_number(r, value);
    }
    if (read_token(r, "Device")) {
        TAPER_TRY(read_number(r, value));
        value->tag = TAPER_DEVICE;
        return read_token(r, ">") ? TAPER_OK : read_failed(r, "\">\"");
    }
    *frozen = read_token(r, "frozen");
    return read_token(r, "Tensor")   ? read_tensor(r, value)
           : read_token(r, "Dict:")  ? read_dict(r, value)
           : read_token(r, "Object") ? read_tuple_or_object(r, true, value)
                                     : read_list(r, value);
}

taper_status read_value(graph_reader *r, taper_val *value, bool *frozen)
{
    *value = taper_val_none();
    *frozen = false;
    const taper_status status = read_any(r, value, frozen);
    if (status != TAPER_OK) {
        taper_val_release(*value);
        *value = taper_val_none();
    }
    return status;
}
