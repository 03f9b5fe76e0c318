// SPDX-License-Identifier: BSD-2-Clause
// A growable string.
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

void taper_text_free(taper_text *text)
{
    taper_free(text->allocator, text->data, text->capacity);
    *text = taper_text_make(text->allocator);
}

void taper_text_append(taper_text *text, const char *bytes, size_t length)
{
    if (text->failed) {
        return;
    }
    if (length > TAPER_LIMIT_STRING_BYTES - text->length ||
        TAPER_GROW(text->allocator, text->data, text->capacity, text->length + length + 1, NULL) != TAPER_OK) {
        text->failed = true;
        return;
    }
    if (length != 0) {
        memcpy(text->data + text->length, bytes, length);
    }
    text->length += length;
    text->data[text->length] = '\0';
}

void taper_text_string(taper_text *text, const char *string)
{
    taper_text_append(text, string, strlen(string));
}

size_t taper_text_copy(const taper_text *text, char *buffer, size_t size)
{
    const size_t length = text->failed ? 0 : text->length;
    if (size != 0 && buffer != NULL) {
        const size_t kept = length < size - 1 ? length : size - 1;
        memcpy(buffer, taper_text_get(text), kept);
        buffer[kept] = '\0';
    }
    return length;
}

void taper_text_format(taper_text *text, const char *format, ...)
{
    char line[512];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n < 0) {
        text->failed = true;
    } else if ((size_t)n < sizeof line) {
        taper_text_append(text, line, (size_t)n);
    } else {
        taper_text_append(text, line, sizeof line - 1);
    }
}

// Replaces the locale's decimal point, which may have several bytes, with '.'.
static void plain_point(char *digits)
{
    char *to = digits;
    for (const char *from = digits; *from != '\0'; from++) {
        if (strchr("0123456789+-e", *from) != NULL) {
            *to++ = *from;
        } else if (to == digits || to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
}

void taper_text_double(taper_text *text, double number)
{
    if (isnan(number)) {
        taper_text_string(text, "nan");
        return;
    }
    if (isinf(number)) {
        taper_text_string(text, number < 0 ? "-inf" : "inf");
        return;
    }
    char digits[40];
    int precision = 1;
    do { // finds the fewest digits that read back as the same number
        (void)snprintf(digits, sizeof digits, "%.*e", precision - 1, number);
    } while (strtod(digits, NULL) != number && ++precision <= 17);
    const char *mark = strchr(digits, 'e');
    const int exponent = mark != NULL ? atoi(mark + 1) : 0;
    if (exponent >= -4 && exponent < 16) { // Python's repr writes no exponent in this range
        const int decimals = precision - 1 - exponent;
        (void)snprintf(digits, sizeof digits, "%.*f", decimals > 0 ? decimals : 1, number);
        plain_point(digits);
        taper_text_string(text, digits);
        return;
    }
    plain_point(digits);
    taper_text_string(text, digits); // "%e" writes at least two exponent digits, as Python does
}

bool taper_parse_double(const char *text, size_t length, double *number)
{
    char probe[16], copy[512];
    (void)snprintf(probe, sizeof probe, "%.1f", 0.5);
    const char *point = memchr(text, '.', length);
    const char *source = text;
    const size_t point_length = strlen(probe) - 2;
    // The function strtod expects the decimal point of the locale.
    if (probe[1] != '.' && point != NULL && length + point_length < sizeof copy) {
        const size_t before = (size_t)(point - text);
        memcpy(copy, text, before);
        memcpy(copy + before, probe + 1, point_length);
        memcpy(copy + before + point_length, point + 1, length - before - 1);
        length += point_length - 1;
        copy[length] = '\0';
        source = copy;
    }
    char *end = NULL;
    *number = strtod(source, &end);
    return end != source && end == source + length;
}
