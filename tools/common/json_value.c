// SPDX-License-Identifier: BSD-2-Clause
// Makes a tree from the events of the library's JSON reader (base/json.h).
#include "common/json_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "common/errors.h"

enum { DEPTH_LIMIT = 64 };

static const char no_memory[] = "out of memory";

static taper_status keep_text(taper_json *json, const taper_json_text *from, char **text, size_t *length)
{
    char *out = malloc(from->length + 1);
    if (out == NULL) {
        return taper_json_fail(json, no_memory);
    }
    *length = taper_json_decode(from, out);
    out[*length] = '\0';
    *text = out;
    return TAPER_OK;
}

static taper_status parse_text(taper_json *json, json_value *value)
{
    taper_json_text text;
    TAPER_TRY(taper_json_take_text(json, &text));
    return keep_text(json, &text, &value->text, &value->length);
}

static taper_status parse_number(taper_json *json, json_value *value)
{
    taper_json_number number;
    TAPER_TRY(taper_json_take_number(json, &number));
    value->kind = number.whole ? JSON_INT : JSON_DOUBLE;
    value->integer = number.integer;
    value->number = number.number;
    return TAPER_OK;
}

static taper_status parse_value(taper_json *json, json_value *value);

static taper_status parse_items(taper_json *json, json_value *value, taper_json_kind kind)
{
    size_t capacity = 0;
    taper_json_text key;
    bool more;
    TAPER_TRY(taper_json_enter(json, kind));
    for (;;) { // make_value calls itself for items; the reader limits the depth
        TAPER_TRY(kind == TAPER_JSON_ARRAY ? taper_json_next(json, &more) : taper_json_member(json, &key, &more));
        if (!more) {
            return TAPER_OK;
        }
        if (value->count == capacity) {
            capacity = capacity != 0 ? capacity * 2 : 4;
            json_value *grown = realloc(value->items, capacity * sizeof *grown);
            if (grown == NULL) {
                return taper_json_fail(json, no_memory);
            }
            value->items = grown;
        }
        json_value *item = &value->items[value->count++];
        *item = (json_value){0};
        if (kind == TAPER_JSON_OBJECT) {
            TAPER_TRY(keep_text(json, &key, &item->key, &item->key_length));
        }
        TAPER_TRY(parse_value(json, item));
    }
}

static taper_status parse_value(taper_json *json, json_value *value)
{
    taper_json_kind kind;
    TAPER_TRY(taper_json_peek(json, &kind));
    switch (kind) {
    case TAPER_JSON_NULL:
        return taper_json_take_null(json);
    case TAPER_JSON_BOOL:
        value->kind = JSON_BOOL;
        return taper_json_take_bool(json, &value->flag);
    case TAPER_JSON_TEXT:
        value->kind = JSON_TEXT;
        return parse_text(json, value);
    case TAPER_JSON_ARRAY:
        value->kind = JSON_ARRAY;
        return parse_items(json, value, kind);
    case TAPER_JSON_OBJECT:
        value->kind = JSON_OBJECT;
        return parse_items(json, value, kind);
    default:
        return parse_number(json, value);
    }
}

static void clear(json_value *value)
{
    for (size_t i = 0; i < value->count; i++) { // recursive, up to the depth of the parsed text
        clear(&value->items[i]);
    }
    free(value->items);
    free(value->text);
    free(value->key);
}

void json_free(json_value *value)
{
    if (value != NULL) {
        clear(value);
        free(value);
    }
}

json_value *json_parse(const char *subject, const char *text, size_t length)
{
    json_value *value = calloc(1, sizeof *value);
    if (value == NULL) {
        error_report_memory(subject);
        return NULL;
    }
    taper_json json = taper_json_make(text, length, 0, subject, DEPTH_LIMIT, NULL);
    if (parse_value(&json, value) != TAPER_OK || taper_json_end(&json) != TAPER_OK) {
        size_t line = 1;
        for (const char *c = text; c < json.at; c++) {
            line += *c == '\n';
        }
        error_report(subject, "not valid JSON: %s (line %zu, byte %zu)", json.problem, line, (size_t)(json.at - text));
        json_free(value);
        return NULL;
    }
    return value;
}

const json_value *json_member(const json_value *value, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = value->kind == JSON_OBJECT ? value->count : 0; i > 0; i--) {
        const json_value *item = &value->items[i - 1];
        if (item->key_length == length && memcmp(item->key, name, length) == 0) {
            return item;
        }
    }
    return NULL;
}

const char *json_kind_name(json_kind kind)
{
    static const char *const names[] = {"null", "a bool", "an integer", "a float", "a string", "an array", "an object"};
    return names[kind];
}
