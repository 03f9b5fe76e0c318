// SPDX-License-Identifier: BSD-2-Clause
// JSON as Python reads and writes it: integers keep 64 bits and stay apart from floats ("3" and "3.0"), NaN, Infinity
// and -Infinity are numbers, strings may hold any character.
#ifndef TAPER_TOOLS_JSON_VALUE_H
#define TAPER_TOOLS_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_INT,
    JSON_DOUBLE,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT,
} json_kind;

typedef struct json_value json_value;
struct json_value {
    json_kind kind;
    bool flag;
    int64_t integer;
    double number; // of JSON_INT too
    char *text;    // NUL-terminated; may hold NULs
    size_t length;
    json_value *items; // of an array or an object
    size_t count;
    char *key; // of an object's member
    size_t key_length;
};

// NULL after a report that names subject and place. Freed by json_free.
json_value *json_parse(const char *subject, const char *text, size_t length);
void json_free(json_value *value);
// The member of that name (the last of several), or NULL; also when value is no object.
const json_value *json_member(const json_value *value, const char *name);
const char *json_kind_name(json_kind kind); // "a string"

// Writers. Numbers are written as short as they can be read back exactly; a float always looks like one. Bytes that are
// no UTF-8 are "\udc80" to "\udcff", and read back as such.
// Numbers that JSON has no word for become strings, "NaN", "Infinity" and "-Infinity", rather than Python's words.
void json_write_strictly(bool strictly);
void json_put_text(FILE *stream, const char *text, size_t length);
void json_double_text(char text[40], double number); // what json_put_double() writes of finite numbers; "nan", "inf"
void json_put_double(FILE *stream, double number);
void json_put_float(FILE *stream, float number);
void json_put(FILE *stream, const json_value *value); // on one line, without its key

#endif
