// SPDX-License-Identifier: BSD-2-Clause
// JSON in Python's dialect. Integers have 64 bits and differ from floats ("3" and "3.0"); the words NaN, Infinity and
// -Infinity are numbers; strings may contain any character.
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
    double number; // value of a number as a double; set for JSON_INT and JSON_FLOAT
    char *text;    // text of a string, NUL-terminated; the string may also contain NULs
    size_t length;
    json_value *items; // items of an array, or members of an object
    size_t count;
    char *key; // name of the member, if this value is a member of an object
    size_t key_length;
};

// Parses the text. Returns NULL after it has reported an error with subject and position. The caller frees the result
// with json_free.
json_value *json_parse(const char *subject, const char *text, size_t length);
void json_free(json_value *value);
// Returns the member with this name (the last one, if there are several), or NULL if there is none or value is not an
// object.
const json_value *json_member(const json_value *value, const char *name);
const char *json_kind_name(json_kind kind); // returns a description, for example "a string"

// These functions write JSON. A number is written with the fewest digits that read back exactly; a float always has a
// point or an exponent. Bytes that are not UTF-8 become "\udc80" to "\udcff"; the reader converts these back to bytes.
// After json_write_strictly(true), the strings "NaN", "Infinity" and "-Infinity" are written instead of Python's words,
// which are not JSON.
void json_write_strictly(bool strictly);
void json_put_text(FILE *stream, const char *text, size_t length);
// Writes to `text` the text that json_put_double prints for finite numbers, otherwise "nan" or "inf".
void json_double_text(char text[40], double number);
void json_put_double(FILE *stream, double number);
void json_put_float(FILE *stream, float number);
void json_put(FILE *stream, const json_value *value); // writes the value on one line, without its key

#endif
