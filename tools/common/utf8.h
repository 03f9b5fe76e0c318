// SPDX-License-Identifier: BSD-2-Clause
// The parts of UTF-8 that printing text from files needs.
#ifndef TAPER_TOOLS_UTF8_H
#define TAPER_TOOLS_UTF8_H

#include <stdbool.h>
#include <stddef.h>

// Returns the length of the valid sequence at text, or 0.
static inline size_t utf8_length(const char *text, size_t left)
{
    const unsigned char *c = (const unsigned char *)text;
    const size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) || (c[0] == 0xF0 && c[1] < 0x90) ||
        (c[0] == 0xF4 && c[1] > 0x8F)) {
        return 0;
    }
    return length;
}

// Returns true if a valid sequence is a control character: below U+0020, DEL, or one of U+0080 to U+009F, which
// terminals also obey.
static inline bool utf8_is_control(const char *text, size_t length)
{
    const unsigned char *c = (const unsigned char *)text;
    return length == 1 ? c[0] < 32 || c[0] == 127 : length == 2 && c[0] == 0xC2 && c[1] < 0xA0;
}

#endif
