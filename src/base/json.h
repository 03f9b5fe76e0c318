// SPDX-License-Identifier: BSD-2-Clause
// The reader of JSON: one pass over bytes in memory, no tree, no memory of its own. The caller asks for the value that
// it expects next and is told where there is another. JSON is as Python reads and writes it: integers keep 64 bits and
// stay apart from floats ("3" and "3.0"), NaN, Infinity and -Infinity are numbers, strings may hold any character.
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
    const char *what; // "model.json", for messages
    uint64_t base;    // of begin in the file, for messages
    taper_error *error;
    const char *problem; // the first one, as a message says it; at is where
    unsigned depth, depth_limit;
    bool first; // an array or object was just entered
} taper_json;

// A string as it stands between its quotes; its escapes are in order.
typedef struct taper_json_text {
    const char *at;
    size_t length;
    bool escaped;
} taper_json_text;

typedef struct taper_json_number {
    bool whole; // an integer: both are set
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

// A failure at the place that was reached: "model.json cannot be read: PROBLEM".
TAPER_COLD taper_status taper_json_fail(taper_json *json, const char *problem);

// What the next value is by its first character; INT for any number.
TAPER_MUST_USE taper_status taper_json_peek(taper_json *json, taper_json_kind *kind);

// These expect a value of their kind.
TAPER_MUST_USE taper_status taper_json_take_null(taper_json *json);
TAPER_MUST_USE taper_status taper_json_take_bool(taper_json *json, bool *flag);
TAPER_MUST_USE taper_status taper_json_take_number(taper_json *json, taper_json_number *number);
TAPER_MUST_USE taper_status taper_json_take_text(taper_json *json, taper_json_text *text);

// An array: enter, then for each item next and the item, until *more is false. An object: the same with the name of
// each member.
TAPER_MUST_USE taper_status taper_json_enter(taper_json *json, taper_json_kind kind);
TAPER_MUST_USE taper_status taper_json_next(taper_json *json, bool *more);
TAPER_MUST_USE taper_status taper_json_member(taper_json *json, taper_json_text *name, bool *more);

// Any value, however it is made up.
TAPER_MUST_USE taper_status taper_json_skip(taper_json *json);
// Nothing but blanks is left.
TAPER_MUST_USE taper_status taper_json_end(taper_json *json);

// Whether a string without escapes is this one: names of members.
bool taper_json_is(const taper_json_text *text, const char *name);
// Writes the characters as UTF-8, at most text->length bytes and no NUL behind them; returns how many. "\udc80" to
// "\udcff" become the bytes 128 to 255, which is how Python writes what is no UTF-8.
size_t taper_json_decode(const taper_json_text *text, char *out);

#endif
