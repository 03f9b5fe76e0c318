// SPDX-License-Identifier: BSD-2-Clause
// A reader of JSON that makes one pass over bytes in memory, without a tree and without allocation. The caller asks for
// the value that it expects next; any other value is an error. The format is what Python's json module reads and
// writes. Integers have 64 bits and are distinct from floats ("3" and "3.0"). NaN, Infinity and -Infinity are numbers.
// Strings may contain any character.
#ifndef TAPER_BASE_JSON_H
#define TAPER_BASE_JSON_H

#include "base/status.h"

typedef enum taper_json_kind {
    TAPER_JSON_NULL,
    TAPER_JSON_BOOL,
    TAPER_JSON_INT,
    TAPER_JSON_DOUBLE,
    TAPER_JSON_TEXT,
    TAPER_JSON_ARRAY,
    TAPER_JSON_OBJECT
} taper_json_kind;

typedef struct taper_json {
    const char *begin, *at, *end;
    const char *what; // name of the file for messages, such as "model.json"
    uint64_t base;    // position of `begin` in the file, in bytes, for messages
    taper_error *error;
    const char *problem; // text of the first problem; `at` then points to the problem
    unsigned depth, depth_limit;
    bool first; // true if an array or object was just entered
} taper_json;

// The bytes of a string between its quotes. Escapes are not decoded, but they are valid.
typedef struct taper_json_text {
    const char *at;
    size_t length;
    bool escaped;
} taper_json_text;

typedef struct taper_json_number {
    bool whole; // true if the number is an integer; then `integer` is set, too
    int64_t integer;
    double number;
} taper_json_number;

static inline taper_json taper_json_make(const void *data, size_t size, uint64_t base, const char *what,
                                         unsigned depth_limit, taper_error *error)
{
    return (taper_json){.begin = data,
                        .at = data,
                        .end = data != NULL ? (const char *)data + size : NULL,
                        .what = what,
                        .base = base,
                        .error = error,
                        .depth_limit = depth_limit};
}

// Fails with "model.json cannot be read: PROBLEM" and the position that the reader has reached.
TAPER_COLD taper_status taper_json_fail(taper_json *json, const char *problem);

// Sets *kind to the kind of the next value, without reading the value. A number counts as INT here, even if it is a
// float.
TAPER_MUST_USE taper_status taper_json_peek(taper_json *json, taper_json_kind *kind);

// Each of these functions reads a value of one kind and fails if the next value has another kind.
TAPER_MUST_USE taper_status taper_json_take_null(taper_json *json);
TAPER_MUST_USE taper_status taper_json_take_bool(taper_json *json, bool *flag);
TAPER_MUST_USE taper_status taper_json_take_number(taper_json *json, taper_json_number *number);
TAPER_MUST_USE taper_status taper_json_take_text(taper_json *json, taper_json_text *text);

// These functions read an array: call taper_json_enter, then call taper_json_next before each item, until *more is
// false. For an object, call taper_json_member in place of taper_json_next.
TAPER_MUST_USE taper_status taper_json_enter(taper_json *json, taper_json_kind kind);
TAPER_MUST_USE taper_status taper_json_next(taper_json *json, bool *more);
TAPER_MUST_USE taper_status taper_json_member(taper_json *json, taper_json_text *name, bool *more);

// Skips one value of any kind.
TAPER_MUST_USE taper_status taper_json_skip(taper_json *json);
// Fails unless only blanks are left in the file.
TAPER_MUST_USE taper_status taper_json_end(taper_json *json);

// Returns true if the string equals the name. Use it for names of members without escapes.
bool taper_json_is(const taper_json_text *text, const char *name);
// Writes the string as UTF-8 without a NUL, at most text->length bytes, and returns the number of bytes. "\udc80" to
// "\udcff" become the bytes 128 to 255: Python writes bytes that are not UTF-8 in this way.
size_t taper_json_decode(const taper_json_text *text, char *out);

#endif
