// SPDX-License-Identifier: BSD-2-Clause
// The reader of JSON. Every function leaves `at` after the text that it has read, or at the problem.
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

taper_status taper_json_fail(taper_json *json, const char *problem)
{
    if (json->problem == NULL) {
        json->problem = problem;
    }
    return taper_fail_at(json->error, TAPER_ERROR_FILE, (int64_t)(json->base + (uint64_t)(json->at - json->begin)),
                         "%s cannot be read: %s", json->what, problem);
}

static void skip_space(taper_json *json)
{
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r')) {
        json->at++;
    }
}

// Skips blanks and returns the next character, or '\0' at the end.
static char look(taper_json *json)
{
    skip_space(json);
    return json->at < json->end ? *json->at : '\0';
}

static bool take(taper_json *json, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0) {
        return false;
    }
    json->at += length;
    return true;
}

taper_status taper_json_peek(taper_json *json, taper_json_kind *kind)
{
    static const char first[] = "ntf\"[{";
    static const uint8_t kinds[] = {TAPER_JSON_NULL, TAPER_JSON_BOOL,  TAPER_JSON_BOOL,
                                    TAPER_JSON_TEXT, TAPER_JSON_ARRAY, TAPER_JSON_OBJECT};
    const char c = look(json);
    const char *found = c != '\0' ? strchr(first, c) : NULL;
    if (found == NULL && (c < '0' || c > '9') && c != '-' && c != 'N' && c != 'I') {
        return taper_json_fail(json, "expected a value");
    }
    *kind = found != NULL ? (taper_json_kind)kinds[found - first] : TAPER_JSON_INT;
    return TAPER_OK;
}

taper_status taper_json_take_null(taper_json *json)
{
    skip_space(json);
    return take(json, "null") ? TAPER_OK : taper_json_fail(json, "expected null");
}

taper_status taper_json_take_bool(taper_json *json, bool *flag)
{
    skip_space(json);
    *flag = take(json, "true");
    return *flag || take(json, "false") ? TAPER_OK : taper_json_fail(json, "expected true or false");
}

// ---- numbers

static size_t digits(const taper_json *json, size_t from)
{
    const size_t left = (size_t)(json->end - json->at);
    size_t count = 0;
    while (from + count < left && json->at[from + count] >= '0' && json->at[from + count] <= '9') {
        count++;
    }
    return count;
}

// Returns the length of the number at `at` in characters, or 0 if the text is not a valid number.
static size_t measure(const taper_json *json, bool *whole)
{
    const size_t left = (size_t)(json->end - json->at);
    size_t length = left != 0 && *json->at == '-';
    const size_t before = digits(json, length);
    if (before == 0 || (before > 1 && json->at[length] == '0')) {
        return 0;
    }
    length += before;
    *whole = true;
    if (length < left && json->at[length] == '.') {
        const size_t behind = digits(json, length + 1);
        if (behind == 0) {
            return 0;
        }
        length += 1 + behind;
        *whole = false;
    }
    if (length < left && (json->at[length] | 32) == 'e') {
        size_t sign = length + 1;
        sign += sign < left && (json->at[sign] == '-' || json->at[sign] == '+');
        const size_t exponent = digits(json, sign);
        if (exponent == 0) {
            return 0;
        }
        length = sign + exponent;
        *whole = false;
    }
    return length;
}

taper_status taper_json_take_number(taper_json *json, taper_json_number *number)
{
    skip_space(json);
    *number = (taper_json_number){.whole = false};
    if (take(json, "NaN")) {
        number->number = (double)NAN;
        return TAPER_OK;
    }
    if (take(json, "Infinity")) {
        number->number = (double)INFINITY;
        return TAPER_OK;
    }
    if (take(json, "-Infinity")) {
        number->number = -(double)INFINITY;
        return TAPER_OK;
    }
    char text[512];
    const size_t length = measure(json, &number->whole);
    if (length == 0 || length >= sizeof text) {
        return taper_json_fail(json, length == 0 ? "expected a value" : "a number is too long");
    }
    memcpy(text, json->at, length);
    text[length] = '\0';
    if (number->whole) {
        errno = 0;
        number->integer = strtoll(text, NULL, 10);
        if (errno != 0) {
            return taper_json_fail(json, "an integer does not fit 64 bits");
        }
        number->number = (double)number->integer;
    } else if (!taper_parse_double(text, length, &number->number)) {
        return taper_json_fail(json, "expected a value");
    }
    json->at += length;
    return TAPER_OK;
}

// ---- strings

static bool take_hex(const char *at, const char *end, unsigned *code)
{
    static const char known[] = "0123456789abcdef0123456789ABCDEF";
    *code = 0;
    for (int i = 0; i < 4; i++, at++) {
        const char *digit = at < end && *at != '\0' ? strchr(known, *at) : NULL;
        if (digit == NULL) {
            return false;
        }
        *code = *code * 16 + (unsigned)((digit - known) % 16);
    }
    return true;
}

static size_t put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6) {
        out[i] = (char)(0x80 | (code & 63));
    }
    out[0] = (char)((0xF0u << (4 - length)) | code);
    return length;
}

// Reads an escape of at least two bytes. Returns the text after the escape, and writes the bytes that the escape stands
// for to `out`. These bytes are not longer than the escape. Returns NULL for an invalid escape; *problem then says why.
static const char *read_escape(const char *at, const char *end, char out[4], size_t *length, const char **problem)
{
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const char c = at < end ? *at : '\0';
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    if (name != NULL) {
        out[0] = codes[name - names];
        *length = 1;
        return at + 1;
    }
    unsigned code, low;
    if (c != 'u') {
        *problem = "unknown escape in a string";
        return NULL;
    }
    if (!take_hex(at + 1, end, &code)) {
        *problem = "\\u needs four hexadecimal digits";
        return NULL;
    }
    at += 5;
    if (code >= 0xDC80 && code <= 0xDCFF) {
        out[0] = (char)(code & 0xFF);
        *length = 1;
        return at;
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
        if (code > 0xDBFF || end - at < 2 || at[0] != '\\' || at[1] != 'u' || !take_hex(at + 2, end, &low) ||
            low < 0xDC00 || low > 0xDFFF) {
            *problem = "half of a surrogate pair in a string";
            return NULL;
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
    }
    *length = put_utf8(out, code);
    return at;
}

taper_status taper_json_take_text(taper_json *json, taper_json_text *text)
{
    skip_space(json);
    if (!take(json, "\"")) {
        return taper_json_fail(json, "expected a string");
    }
    *text = (taper_json_text){.at = json->at};
    while (json->at < json->end && *json->at != '"') {
        if (*json->at != '\\') {
            json->at++;
            continue;
        }
        char bytes[4];
        size_t length;
        const char *problem = NULL, *behind = read_escape(json->at + 1, json->end, bytes, &length, &problem);
        if (behind == NULL) {
            return taper_json_fail(json, problem);
        }
        text->escaped = true;
        json->at = behind;
    }
    text->length = (size_t)(json->at - text->at);
    return take(json, "\"") ? TAPER_OK : taper_json_fail(json, "a string has no end");
}

size_t taper_json_decode(const taper_json_text *text, char *out)
{
    if (!text->escaped) {
        memcpy(out, text->at, text->length);
        return text->length;
    }
    const char *at = text->at, *end = text->at + text->length, *problem;
    size_t used = 0, length = 0;
    while (at < end) {
        if (*at != '\\') {
            out[used++] = *at++;
            continue;
        }
        char bytes[4];
        // Cannot fail, because the escape was checked when the string was read.
        at = read_escape(at + 1, end, bytes, &length, &problem);
        memcpy(out + used, bytes, length);
        used += length;
    }
    return used;
}

bool taper_json_is(const taper_json_text *text, const char *name)
{
    const size_t length = strlen(name);
    return !text->escaped && text->length == length && memcmp(text->at, name, length) == 0;
}

// ---- arrays and objects

taper_status taper_json_enter(taper_json *json, taper_json_kind kind)
{
    skip_space(json);
    if (!take(json, kind == TAPER_JSON_ARRAY ? "[" : "{")) {
        return taper_json_fail(json, kind == TAPER_JSON_ARRAY ? "expected an array" : "expected an object");
    }
    if (json->depth >= json->depth_limit) {
        return taper_json_fail(json, "nested too deeply");
    }
    json->depth++;
    json->first = true;
    return TAPER_OK;
}

static taper_status next(taper_json *json, const char *close, const char *expected, bool *more)
{
    skip_space(json);
    *more = !take(json, close);
    if (!*more) {
        json->depth--;
    } else if (!json->first && !take(json, ",")) {
        return taper_json_fail(json, expected);
    }
    json->first = false;
    return TAPER_OK;
}

taper_status taper_json_next(taper_json *json, bool *more)
{
    return next(json, "]", "expected ',' or ']'", more);
}

taper_status taper_json_member(taper_json *json, taper_json_text *name, bool *more)
{
    TAPER_TRY(next(json, "}", "expected ',' or '}'", more));
    if (!*more) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_json_take_text(json, name));
    skip_space(json);
    return take(json, ":") ? TAPER_OK : taper_json_fail(json, "expected ':'");
}

taper_status taper_json_end(taper_json *json)
{
    skip_space(json);
    return json->at == json->end ? TAPER_OK : taper_json_fail(json, "something follows the value");
}

static taper_status skip_plain(taper_json *json, taper_json_kind kind)
{
    bool flag;
    taper_json_number number;
    taper_json_text text;
    switch (kind) {
    case TAPER_JSON_NULL:
        return taper_json_take_null(json);
    case TAPER_JSON_BOOL:
        return taper_json_take_bool(json, &flag);
    case TAPER_JSON_TEXT:
        return taper_json_take_text(json, &text);
    default:
        return taper_json_take_number(json, &number);
    }
}

taper_status taper_json_skip(taper_json *json)
{
    taper_json_kind kind;
    taper_json_text name;
    bool more;
    TAPER_TRY(taper_json_peek(json, &kind));
    if (kind < TAPER_JSON_ARRAY) {
        return skip_plain(json, kind);
    }
    TAPER_TRY(taper_json_enter(json, kind)); // fails if the nesting is deeper than the limit
    for (;;) {
        TAPER_TRY(kind == TAPER_JSON_ARRAY ? taper_json_next(json, &more) : taper_json_member(json, &name, &more));
        if (!more) {
            return TAPER_OK;
        }
        TAPER_TRY(taper_json_skip(json));
    }
}
