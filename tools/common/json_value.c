// SPDX-License-Identifier: BSD-2-Clause
#include "common/json_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"

enum { DEPTH_LIMIT = 64 };

typedef struct parser {
    const char *begin, *at, *end;
    const char *problem; // the first one
} parser;

static bool fail(parser *p, const char *problem)
{
    if (p->problem == NULL) {
        p->problem = problem;
    }
    return false;
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) {
        p->at++;
    }
}

static bool take(parser *p, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

static bool parse_hex(parser *p, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = p->at < p->end && *p->at != '\0' ? strchr(digits, *p->at) : NULL;
        if (digit == NULL) {
            return fail(p, "\\u needs four hexadecimal digits");
        }
        *code = *code * 16 + (unsigned)((digit - digits) % 16);
    }
    return true;
}

static size_t put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

// After a backslash; at most 4 bytes of UTF-8 for at least 2 bytes of text ("\u12345" included: 6 bytes give 3).
static bool parse_escape(parser *p, char *out, size_t *length)
{
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const char c = p->at < p->end ? *p->at : '\0';
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    if (name != NULL) {
        out[(*length)++] = codes[name - names];
        p->at++;
        return true;
    }
    if (c != 'u') {
        return fail(p, "unknown escape in a string");
    }
    p->at++;
    unsigned code, low;
    if (!parse_hex(p, &code)) {
        return false;
    }
    if (code >= 0xDC80 && code <= 0xDCFF) { // a byte that is no UTF-8, as json_put_text writes it
        out[(*length)++] = (char)(code & 0xFF);
        return true;
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
        if (code > 0xDBFF || !take(p, "\\u") || !parse_hex(p, &low) || low < 0xDC00 || low > 0xDFFF) {
            return fail(p, "half of a surrogate pair in a string");
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    *length += put_utf8(out + *length, code);
    return true;
}

static bool parse_text(parser *p, char **text, size_t *length)
{
    if (!take(p, "\"")) {
        return fail(p, "expected a string");
    }
    const char *close = p->at;
    while (close < p->end && *close != '"') {
        close += *close == '\\' && p->end - close > 1 ? 2 : 1;
    }
    if (close >= p->end) {
        return fail(p, "a string has no end");
    }
    char *out = malloc((size_t)(close - p->at) + 1); // escapes only shrink
    if (out == NULL) {
        return fail(p, "out of memory");
    }
    size_t used = 0;
    while (p->at < close) {
        if (*p->at == '\\') {
            p->at++;
            if (!parse_escape(p, out, &used)) {
                free(out);
                return false;
            }
        } else {
            out[used++] = *p->at++;
        }
    }
    p->at = close + 1;
    out[used] = '\0';
    *text = out;
    *length = used;
    return true;
}

static bool parse_number(parser *p, json_value *value)
{
    char text[512];
    size_t length = 0;
    bool whole = true;
    while (p->at + length < p->end && p->at[length] != '\0' && strchr("+-0123456789.eE", p->at[length]) != NULL) {
        whole = whole && strchr(".eE", p->at[length]) == NULL;
        length++;
    }
    const size_t first = length > 0 && p->at[0] == '-';
    if (length <= first || length >= sizeof text || p->at[first] < '0' || p->at[first] > '9' ||
        p->at[length - 1] == '.') {
        return fail(p, "expected a value");
    }
    memcpy(text, p->at, length);
    text[length] = '\0';
    char *end;
    errno = 0;
    if (whole) {
        const long long integer = strtoll(text, &end, 10);
        if (errno != 0) {
            return fail(p, "an integer does not fit 64 bits");
        }
        value->kind = JSON_INT;
        value->integer = integer;
        value->number = (double)integer;
    } else {
        value->kind = JSON_DOUBLE;
        value->number = strtod(text, &end);
    }
    if (*end != '\0') {
        return fail(p, "expected a value");
    }
    p->at += length;
    return true;
}

static bool parse_value(parser *p, json_value *value, int depth);

// The items of an array or an object, after the opening bracket.
static bool parse_items(parser *p, json_value *value, int depth, const char *close)
{
    size_t capacity = 0;
    skip_space(p);
    if (take(p, close)) {
        return true;
    }
    for (;;) {
        if (value->count == capacity) {
            capacity = capacity != 0 ? capacity * 2 : 4;
            json_value *grown = realloc(value->items, capacity * sizeof *grown);
            if (grown == NULL) {
                return fail(p, "out of memory");
            }
            value->items = grown;
        }
        json_value *item = &value->items[value->count++];
        *item = (json_value){0};
        if (value->kind == JSON_OBJECT) {
            skip_space(p);
            if (!parse_text(p, &item->key, &item->key_length)) {
                return false;
            }
            skip_space(p);
            if (!take(p, ":")) {
                return fail(p, "expected ':'");
            }
        }
        if (!parse_value(p, item, depth + 1)) {
            return false;
        }
        skip_space(p);
        if (take(p, close)) {
            return true;
        }
        if (!take(p, ",")) {
            return fail(p, value->kind == JSON_OBJECT ? "expected ',' or '}'" : "expected ',' or ']'");
        }
    }
}

static bool parse_value(parser *p, json_value *value, int depth)
{
    if (depth > DEPTH_LIMIT) {
        return fail(p, "nested too deeply");
    }
    skip_space(p);
    if (take(p, "null")) {
        return true;
    }
    if (take(p, "true") || take(p, "false")) {
        value->kind = JSON_BOOL;
        value->flag = p->at[-2] == 'u';
        return true;
    }
    if (take(p, "NaN")) {
        value->kind = JSON_DOUBLE;
        value->number = (double)NAN;
        return true;
    }
    if (take(p, "Infinity") || take(p, "-Infinity")) {
        value->kind = JSON_DOUBLE;
        value->number = p->at - p->begin >= 9 && p->at[-9] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    if (take(p, "[")) {
        value->kind = JSON_ARRAY;
        return parse_items(p, value, depth, "]");
    }
    if (take(p, "{")) {
        value->kind = JSON_OBJECT;
        return parse_items(p, value, depth, "}");
    }
    if (p->at < p->end && *p->at == '"') {
        value->kind = JSON_TEXT;
        return parse_text(p, &value->text, &value->length);
    }
    return parse_number(p, value);
}

static void clear(json_value *value)
{
    for (size_t i = 0; i < value->count; i++) { // not deeper than the parser went
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
    parser p = {text, text, text + length, NULL};
    bool done = parse_value(&p, value, 0);
    if (done) {
        skip_space(&p);
        done = p.at == p.end || fail(&p, "something follows the value");
    }
    if (!done) {
        size_t line = 1;
        for (const char *c = text; c < p.at; c++) {
            line += *c == '\n';
        }
        error_report(subject, "not valid JSON: %s (line %zu, byte %zu)", p.problem, line, (size_t)(p.at - text));
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
