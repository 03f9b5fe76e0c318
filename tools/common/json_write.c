// SPDX-License-Identifier: BSD-2-Clause
// Implements the functions of json_value.h that write.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_value.h"
#include "common/utf8.h"

void json_put_text(FILE *stream, const char *text, size_t length)
{
    fputc('"', stream);
    for (size_t i = 0; i < length;) {
        const unsigned char c = (unsigned char)text[i];
        const size_t bytes = utf8_length(text + i, length - i);
        if (c == '"' || c == '\\') {
            fputc('\\', stream);
            fputc(c, stream);
        } else if (c == '\n') {
            fputs("\\n", stream);
        } else if (c == '\t') {
            fputs("\\t", stream);
            // A two-byte control character is one of U+0080 to U+009F; its number is the value of the second byte.
        } else if (utf8_is_control(text + i, bytes)) {
            fprintf(stream, "\\u%04x", (unsigned)(unsigned char)text[i + bytes - 1]);
        } else if (bytes == 0) {
            // A byte that is not UTF-8 is written as Python's "surrogateescape" writes it, so that no byte is lost.
            fprintf(stream, "\\udc%02x", c);
        } else {
            fwrite(text + i, 1, bytes, stream);
        }
        i += bytes != 0 ? bytes : 1;
    }
    fputc('"', stream);
}

static bool strict;

void json_write_strictly(bool strictly)
{
    strict = strictly;
}

static bool put_special(FILE *stream, double number)
{
    if (!isnan(number) && !isinf(number)) {
        return false;
    }
    const char *quote = strict ? "\"" : "";
    fprintf(stream, "%s%s%s", quote, isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity", quote);
    return true;
}

// Appends ".0" to a float that looks like an integer. Does not change "nan" and "inf".
static void with_point(char *text)
{
    if (strpbrk(text, ".en") == NULL) {
        memcpy(text + strlen(text), ".0", 3);
    }
}

void json_double_text(char text[40], double number)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 36, "%.*g", digits, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    with_point(text);
}

void json_put_double(FILE *stream, double number)
{
    if (put_special(stream, number)) {
        return;
    }
    char text[40];
    json_double_text(text, number);
    fputs(text, stream);
}

void json_put_float(FILE *stream, float number)
{
    if (put_special(stream, (double)number)) {
        return;
    }
    char text[40];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)number);
        if (strtof(text, NULL) == number) {
            break;
        }
    }
    with_point(text);
    fputs(text, stream);
}

// Calls itself for the items of arrays and objects. The parser limits how deeply they are nested.
void json_put(FILE *stream, const json_value *value)
{
    switch (value->kind) {
    case JSON_NULL:
        fputs("null", stream);
        break;
    case JSON_BOOL:
        fputs(value->flag ? "true" : "false", stream);
        break;
    case JSON_INT:
        fprintf(stream, "%lld", (long long)value->integer);
        break;
    case JSON_DOUBLE:
        json_put_double(stream, value->number);
        break;
    case JSON_TEXT:
        json_put_text(stream, value->text, value->length);
        break;
    default:
        fputc(value->kind == JSON_ARRAY ? '[' : '{', stream);
        for (size_t i = 0; i < value->count; i++) {
            fputs(i != 0 ? ", " : "", stream);
            if (value->kind == JSON_OBJECT) {
                json_put_text(stream, value->items[i].key, value->items[i].key_length);
                fputs(": ", stream);
            }
            json_put(stream, &value->items[i]);
        }
        fputc(value->kind == JSON_ARRAY ? ']' : '}', stream);
    }
}
