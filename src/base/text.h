// SPDX-License-Identifier: BSD-2-Clause
// A growable string. Appending to one that failed does nothing, so only the end needs a check.
#ifndef TAPER_BASE_TEXT_H
#define TAPER_BASE_TEXT_H

#include "base/memory.h"

typedef struct taper_text {
    const taper_allocator *allocator;
    char *data; // NUL-terminated once anything was appended
    size_t length, capacity;
    bool failed;
} taper_text;

static inline taper_text taper_text_make(const taper_allocator *allocator)
{
    return (taper_text){.allocator = allocator};
}

void taper_text_free(taper_text *text);
void taper_text_append(taper_text *text, const char *bytes, size_t length);
void taper_text_string(taper_text *text, const char *string);
// Copies the text to a buffer as snprintf does; buffer NULL or size 0: nothing is copied. Returns the full length, or 0
// if the text failed.
size_t taper_text_copy(const taper_text *text, char *buffer, size_t size);
void taper_text_format(taper_text *text, const char *format, ...) TAPER_PRINTF(2, 3);
// A double as Python's repr writes it: shortest digits that read back the same, "inf", "nan", "1e-05", "3.0".
void taper_text_double(taper_text *text, double number);
// strtod in any locale: whether all of the text, which need not end at length, is a number. Longer than 500 characters
// with a point is none where the locale's point is another.
bool taper_parse_double(const char *text, size_t length, double *number);
static inline const char *taper_text_get(const taper_text *text)
{
    return text->data != NULL ? text->data : "";
}

#endif
