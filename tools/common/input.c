// SPDX-License-Identifier: BSD-2-Clause
#include "common/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/errors.h"
#include "common/input_made.h"
#include "common/input_tensor.h"
#include "common/suffix.h"

static bool convert(const input_source *source, const json_value *json, const taper_type *type, taper_value **value);

enum { TYPE_BYTES = 1024 };

static bool mismatch(const input_source *source, const json_value *json, const taper_type *type)
{
    char text[TYPE_BYTES];
    (void)taper_type_text(type, text, sizeof text);
    return error_report(source->subject, "the method takes %s here, this is %s", text, json_kind_name(json->kind));
}

static bool check(const input_source *source, taper_status status)
{
    return status == TAPER_OK || error_report_library(source->subject, source->error);
}

bool input_names_tensor(const char *text)
{
    return input_made_is(text) || suffix_among(text, ".npy .npz .png .jpg .jpeg") || strstr(text, ".npz:") != NULL;
}

static bool is_quantized_form(const json_value *json)
{
    return json_member(json, "@tensor") != NULL;
}

static bool is_number(const json_value *json)
{
    return json->kind == JSON_INT || json->kind == JSON_DOUBLE;
}

// ---- containers

typedef struct value_list {
    taper_value **items;
    size_t count;
} value_list;

static void list_release(value_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        taper_value_release(list->items[i]);
    }
    free(list->items);
    *list = (value_list){0};
}

// Converts each item of an array or object. If `apart` is true, converts item i to the type of argument i of `shared`;
// otherwise converts all items to the type `shared`.
static bool list_convert(const input_source *source, const json_value *json, const taper_type *shared, bool apart,
                         value_list *list)
{
    *list = (value_list){calloc(json->count + 1, sizeof *list->items), 0};
    if (list->items == NULL) {
        return error_report_memory(source->subject);
    }
    for (size_t i = 0; i < json->count; i++) {
        if (!convert(source, &json->items[i], apart ? taper_type_item(shared, i) : shared, &list->items[i])) {
            list_release(list);
            return false;
        }
        list->count++;
    }
    return true;
}

// Sets *text to the text of a type for the library. If the type is unknown, *text is `otherwise`; if `otherwise` is
// also NULL, the library takes the type of the first item.
static bool type_string(const input_source *source, const taper_type *type, const char *otherwise,
                        char buffer[TYPE_BYTES], const char **text)
{
    *text = type != NULL ? buffer : otherwise;
    return type == NULL || taper_type_text(type, buffer, TYPE_BYTES) < TYPE_BYTES ||
           error_report(source->subject, "the declared type is longer than 1023 bytes");
}

static bool make_list(const input_source *source, const json_value *json, const taper_type *element,
                      taper_value **value)
{
    char buffer[TYPE_BYTES];
    const char *text;
    value_list list;
    if (!type_string(source, element, json->count == 0 ? "Tensor" : NULL, buffer, &text) ||
        !list_convert(source, json, element, false, &list)) {
        return false;
    }
    const bool done =
        check(source, taper_value_list(source->context, text, list.items, list.count, value, source->error));
    list_release(&list);
    return done;
}

static bool make_tuple(const input_source *source, const json_value *json, const taper_type *type, taper_value **value)
{
    value_list list;
    if (!list_convert(source, json, type, true, &list)) {
        return false;
    }
    const bool done = check(source, taper_value_tuple(source->context, list.items, list.count, value, source->error));
    list_release(&list);
    return done;
}

// JSON keys are strings; the declared type decides how they are converted.
static bool make_key(const input_source *source, const json_value *item, const taper_type *type, taper_value **key)
{
    if (type == NULL || taper_type_kind_of(type) == TAPER_TYPE_STRING) {
        return check(source, taper_value_string(source->context, item->key, item->key_length, key, source->error));
    }
    json_value *number = json_parse(source->subject, item->key, item->key_length);
    if (number == NULL) {
        return false;
    }
    const bool done = convert(source, number, type, key);
    json_free(number);
    return done;
}

static bool make_dict(const input_source *source, const json_value *json, const taper_type *key_type,
                      const taper_type *value_type, taper_value **value)
{
    char key_buffer[TYPE_BYTES], value_buffer[TYPE_BYTES];
    const char *key_text, *value_text;
    value_list values, keys = {0};
    if (!type_string(source, key_type, "str", key_buffer, &key_text) ||
        !type_string(source, value_type, json->count == 0 ? "Tensor" : NULL, value_buffer, &value_text) ||
        !list_convert(source, json, value_type, false, &values)) {
        return false;
    }
    keys.items = calloc(json->count + 1, sizeof *keys.items);
    bool done = keys.items != NULL || error_report_memory(source->subject);
    while (done && keys.count < json->count) {
        done = make_key(source, &json->items[keys.count], key_type, &keys.items[keys.count]);
        keys.count += done;
    }
    done = done && check(source, taper_value_dict(source->context, key_text, value_text, keys.items, values.items,
                                                  json->count, value, source->error));
    list_release(&keys);
    list_release(&values);
    return done;
}

// ---- without a declared type

static bool make_text(const input_source *source, const json_value *json, taper_value **value)
{
    return check(source, taper_value_string(source->context, json->text, json->length, value, source->error));
}

// An array is a list if all items are of one kind, otherwise a tuple.
static bool is_uniform(const json_value *json)
{
    for (size_t i = 1; i < json->count; i++) {
        const json_value *a = &json->items[0], *b = &json->items[i];
        const bool a_tensor = is_quantized_form(a) || (a->kind == JSON_TEXT && a->text[0] == '@');
        const bool b_tensor = is_quantized_form(b) || (b->kind == JSON_TEXT && b->text[0] == '@');
        if (a_tensor != b_tensor || (!a_tensor && a->kind != b->kind)) {
            return false;
        }
    }
    return true;
}

static bool convert_freely(const input_source *source, const json_value *json, taper_value **value)
{
    switch (json->kind) {
    case JSON_NULL:
        return check(source, taper_value_none(source->context, value, source->error));
    case JSON_BOOL:
        return check(source, taper_value_bool(source->context, json->flag, value, source->error));
    case JSON_INT:
        return check(source, taper_value_int(source->context, json->integer, value, source->error));
    case JSON_DOUBLE:
        return check(source, taper_value_double(source->context, json->number, value, source->error));
    case JSON_TEXT:
        return json->text[0] == '@' ? input_tensor_file(source, json->text + 1, value) : make_text(source, json, value);
    case JSON_ARRAY:
        return is_uniform(json) ? make_list(source, json, NULL, value) : make_tuple(source, json, NULL, value);
    case JSON_OBJECT:
        return is_quantized_form(json) ? input_tensor_json(source, json, value)
                                       : make_dict(source, json, NULL, NULL, value);
    }
    return false;
}

// ---- with a declared type

static bool convert_tensor(const input_source *source, const json_value *json, taper_value **value)
{
    if (is_quantized_form(json)) {
        return input_tensor_json(source, json, value);
    }
    if (json->kind == JSON_TEXT && (json->text[0] == '@' || input_names_tensor(json->text))) {
        return input_tensor_file(source, json->text + (json->text[0] == '@'), value);
    }
    if (json->kind == JSON_ARRAY) {
        return input_array(source, json, NULL, value);
    }
    return error_report(source->subject,
                        "the method takes a Tensor here, this is %s; give a file as \"@file.npy\", or an array: [%s]",
                        json_kind_name(json->kind), json->kind == JSON_DOUBLE ? "0.5" : "1, 2");
}

static bool convert_complex(const input_source *source, const json_value *json, const taper_type *type,
                            taper_value **value)
{
    double re, im = 0;
    if (is_number(json)) {
        re = json->number;
    } else if (json->kind == JSON_ARRAY && json->count == 2 && is_number(&json->items[0]) &&
               is_number(&json->items[1])) {
        re = json->items[0].number;
        im = json->items[1].number;
    } else {
        return mismatch(source, json, type);
    }
    return check(source, taper_value_complex(source->context, re, im, value, source->error));
}

// Returns true if JSON of this kind may stand for the type. convert_union chooses a member type of a Union with it.
static bool may_be(const json_value *json, const taper_type *type)
{
    const bool tensor = is_quantized_form(json) || (json->kind == JSON_TEXT && json->text[0] == '@');
    switch (json->kind) {
    case JSON_NULL:
        return taper_type_kind_of(type) == TAPER_TYPE_NONE || taper_type_kind_of(type) == TAPER_TYPE_OPTIONAL;
    case JSON_BOOL:
        return taper_type_kind_of(type) == TAPER_TYPE_BOOL;
    case JSON_INT:
        return taper_type_kind_of(type) == TAPER_TYPE_INT || taper_type_kind_of(type) == TAPER_TYPE_FLOAT ||
               taper_type_kind_of(type) == TAPER_TYPE_COMPLEX || taper_type_kind_of(type) == TAPER_TYPE_NUMBER;
    case JSON_DOUBLE:
        return taper_type_kind_of(type) == TAPER_TYPE_FLOAT || taper_type_kind_of(type) == TAPER_TYPE_COMPLEX ||
               taper_type_kind_of(type) == TAPER_TYPE_NUMBER;
    case JSON_TEXT:
        return tensor ? taper_type_kind_of(type) == TAPER_TYPE_TENSOR : taper_type_kind_of(type) == TAPER_TYPE_STRING;
    case JSON_ARRAY:
        return taper_type_kind_of(type) == TAPER_TYPE_LIST || taper_type_kind_of(type) == TAPER_TYPE_TUPLE;
    case JSON_OBJECT:
        return tensor ? taper_type_kind_of(type) == TAPER_TYPE_TENSOR : taper_type_kind_of(type) == TAPER_TYPE_DICT;
    }
    return false;
}

static bool convert_union(const input_source *source, const json_value *json, const taper_type *type,
                          taper_value **value)
{
    const taper_type *member, *found = NULL;
    for (size_t i = 0; (member = taper_type_item(type, i)) != NULL; i++) {
        if (may_be(json, member) &&
            (found == NULL || (json->kind == JSON_INT && taper_type_kind_of(member) == TAPER_TYPE_INT))) {
            found = member; // if the Union has int, an int remains an int, whatever the order of the Union's members
        }
    }
    return found != NULL ? convert(source, json, found, value) : mismatch(source, json, type);
}

// A named tuple accepts an array, or an object whose members are in the order of the fields.
static bool convert_tuple(const input_source *source, const json_value *json, const taper_type *type,
                          taper_value **value)
{
    const size_t count = taper_type_count(type);
    const bool named = taper_type_name(type) != NULL && json->kind == JSON_OBJECT && !is_quantized_form(json);
    if (json->kind != JSON_ARRAY && !named) {
        return mismatch(source, json, type);
    }
    if (json->count != count) {
        char text[TYPE_BYTES];
        (void)taper_type_text(type, text, sizeof text);
        return error_report(source->subject, "the method takes %s here, which has %zu items, not %zu", text, count,
                            json->count);
    }
    return make_tuple(source, json, type, value);
}

// If the model does not describe a class, the class may be a named tuple.
static bool convert_class(const input_source *source, const json_value *json, taper_value **value)
{
    const bool items = json->kind == JSON_ARRAY || (json->kind == JSON_OBJECT && !is_quantized_form(json));
    return items ? make_tuple(source, json, NULL, value) : convert_freely(source, json, value);
}

static bool convert(const input_source *source, const json_value *json, const taper_type *type, taper_value **value)
{
    *value = NULL;
    while (taper_type_kind_of(type) == TAPER_TYPE_OPTIONAL) {
        if (json->kind == JSON_NULL) {
            return check(source, taper_value_none(source->context, value, source->error));
        }
        type = taper_type_item(type, 0);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_ANY) {
        return convert_freely(source, json, value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_TENSOR) {
        return convert_tensor(source, json, value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_FLOAT && is_number(json)) {
        return check(source, taper_value_double(source->context, json->number, value, source->error));
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_COMPLEX) {
        return convert_complex(source, json, type, value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_LIST && json->kind == JSON_ARRAY) {
        return make_list(source, json, taper_type_item(type, 0), value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_TUPLE) {
        return convert_tuple(source, json, type, value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_DICT && json->kind == JSON_OBJECT && !is_quantized_form(json)) {
        return make_dict(source, json, taper_type_item(type, 0), taper_type_item(type, 1), value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_UNION) {
        return convert_union(source, json, type, value);
    }
    // In a declared string a first '@' is an ordinary character; it does not mark the name of a file.
    if (taper_type_kind_of(type) == TAPER_TYPE_STRING && json->kind == JSON_TEXT) {
        return make_text(source, json, value);
    }
    const bool number = taper_type_kind_of(type) == TAPER_TYPE_NUMBER;
    if ((taper_type_kind_of(type) == TAPER_TYPE_INT && json->kind == JSON_INT) ||
        (taper_type_kind_of(type) == TAPER_TYPE_BOOL && json->kind == JSON_BOOL) ||
        (taper_type_kind_of(type) == TAPER_TYPE_NONE && json->kind == JSON_NULL) ||
        (number && (is_number(json) || json->kind == JSON_BOOL))) {
        return convert_freely(source, json, value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_CLASS || taper_type_kind_of(type) == TAPER_TYPE_OPAQUE) {
        return convert_class(source, json, value);
    }
    return mismatch(source, json, type);
}

bool input_from_json(const input_source *source, const json_value *json, const taper_type *type, taper_value **value)
{
    // An INPUT may name a file without '@'. If the declared type is string, the INPUT remains a string.
    if (json->kind == JSON_TEXT && json->text[0] != '@' && input_names_tensor(json->text) && type == NULL) {
        *value = NULL;
        return input_tensor_file(source, json->text, value);
    }
    return convert(source, json, type, value);
}

// Returns true if an argument of this type may be a tensor.
static bool takes_tensor(const taper_type *type)
{
    while (taper_type_kind_of(type) == TAPER_TYPE_OPTIONAL) {
        type = taper_type_item(type, 0);
    }
    const taper_type_kind kind = taper_type_kind_of(type);
    return kind == TAPER_TYPE_TENSOR || kind == TAPER_TYPE_ANY || kind == TAPER_TYPE_UNION || kind == TAPER_TYPE_CLASS;
}

static bool tensor_from_text(const input_source *source, const char *text, const taper_type *type, taper_value **value)
{
    const char *name = text + (text[0] == '@');
    if (!takes_tensor(type)) {
        char wanted[TYPE_BYTES];
        (void)taper_type_text(type, wanted, sizeof wanted);
        return error_report(source->subject, "the method takes %s here, \"%.200s\" is a tensor", wanted, text);
    }
    return input_tensor_file(source, name, value);
}

// Handles text that is not JSON: the name of a file, a string without quotes, or a mistake, which it reports.
static bool refuse_words(const input_source *source, const char *text, const taper_type *type, taper_value **value)
{
    struct stat status;
    // Reading the file will fail, and the error will name the kind of the file.
    if (stat(text, &status) == 0 && S_ISREG(status.st_mode)) {
        return tensor_from_text(source, text, type, value);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_STRING) {
        return error_report(source->subject, "not valid JSON, in which texts have quotes: '\"%.200s\"'", text);
    }
    return error_report(source->subject,
                        "\"%.200s\" is no file that is here and not valid JSON; an input is " INPUT_FORMS, text);
}

bool input_from_text(const input_source *source, const char *text, const taper_type *type, taper_value **value)
{
    static const char *const words[] = {"true", "false", "null", "NaN", "Infinity"};
    *value = NULL;
    if (text[0] != '"' && text[0] != '[' && text[0] != '{' && (text[0] == '@' || input_names_tensor(text))) {
        return tensor_from_text(source, text, type, value);
    }
    // may_be_json is also true for an empty text, because strchr finds the terminating NUL.
    bool may_be_json = strchr("\"[{-+0123456789 \t\r\n", text[0]) != NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        may_be_json = may_be_json || strncmp(text, words[i], strlen(words[i])) == 0;
    }
    if (!may_be_json) {
        return refuse_words(source, text, type, value);
    }
    json_value *json = json_parse(source->subject, text, strlen(text));
    if (json == NULL) {
        return false;
    }
    const bool done = input_from_json(source, json, type, value);
    json_free(json);
    return done;
}
