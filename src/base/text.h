// SPDX-License-Identifier: BSD-2-Clause
// A growable string. Appending to a string that has already failed does nothing, so callers check `failed` only at the
// end.
#ifndef TAPER_BASE_TEXT_H
#define TAPER_BASE_TEXT_H

#include "base/memory.h"

typedef struct taper_text {
    const taper_allocator *allocator;
    char *data; // NUL-terminated text; NULL until something is appended
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
// Copies the text to a buffer of `size` bytes as snprintf does. If `buffer` is NULL or `size` is 0, nothing is copied.
// Returns the full length, or 0 if the text failed.
size_t taper_text_copy(const taper_text *text, char *buffer, size_t size);
void taper_text_format(taper_text *text, const char *format, ...) TAPER_PRINTF(2, 3);
// Appends a double as Python's repr writes it: the fewest digits that read back as the same number, "inf", "nan",
// "1e-05", "3.0".
void taper_text_double(taper_text *text, double number);
// Converts text as strtod does in the C locale. Returns true if the first `length` characters are a number; the text
// may continue after them. If the decimal point of the host's locale is not ".", numbers with a point are converted
// only if they have at most 500 characters.
bool taper_parse_double(const char *text, size_t length, double *number);
static inline const char *taper_text_get(const taper_text *text)
{
    return text->data != NULL ? text->data : "";
}

#endif
