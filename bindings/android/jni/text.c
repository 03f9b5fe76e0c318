// SPDX-License-Identifier: BSD-2-Clause
// Converts strings between Java's UTF-16 and Taper's UTF-8. JNI's own functions use a modified UTF-8 and are therefore
// not used.
#include "binding.h"

#include <stdlib.h>

enum { REPLACEMENT = 0xfffd };

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

char *binding_text(JNIEnv *env, jstring string, const char *name, size_t *length)
{
    if (string == NULL) {
        binding_throw(env, &binding.null_pointer, "%s must be not null", name);
        return NULL;
    }
    const size_t units = (size_t)(*env)->GetStringLength(env, string);
    // A UTF-16 unit becomes at most three bytes of UTF-8, and a surrogate pair becomes four. The UTF-16 units are
    // stored after the memory for the text.
    char *text = units < SIZE_MAX / 8 ? malloc(units * 3 + 2 + units * sizeof(jchar)) : NULL;
    if (text == NULL) {
        binding_throw_no_memory(env);
        return NULL;
    }
    jchar *from = (jchar *)(void *)(text + ((units * 3 + 2) & ~(size_t)1));
    (*env)->GetStringRegion(env, string, 0, (jsize)units, from);
    size_t n = 0;
    for (size_t i = 0; i < units; i++) {
        uint32_t c = from[i];
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < units && from[i + 1] >= 0xdc00 && from[i + 1] < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (from[++i] - 0xdc00u);
        } else if (c >= 0xd800 && c < 0xe000) {
            c = REPLACEMENT;
        }
        n += put_utf8(text + n, c);
    }
    text[n] = '\0'; // overwrites no unread unit, because the units come after the text
    *length = n;
    return text;
}

// Returns the next character and its length in bytes, or REPLACEMENT and 1 for an invalid byte.
static uint32_t get_utf8(const unsigned char *from, size_t left, size_t *used)
{
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    const unsigned char first = from[0];
    const size_t more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : 3;
    *used = 1;
    if (more == 0) {
        return first;
    }
    if (first < 0xc2 || first >= 0xf5 || more >= left) {
        return REPLACEMENT;
    }
    uint32_t c = first & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((from[i] & 0xc0) != 0x80) {
            return REPLACEMENT;
        }
        c = c << 6 | (from[i] & 0x3fu);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return REPLACEMENT;
    }
    *used = more + 1;
    return c;
}

jstring binding_string(JNIEnv *env, const char *text, size_t length)
{
    jchar small[256];
    jchar *units = small;
    if (length > sizeof small / sizeof small[0]) {
        // No character has more UTF-16 units than UTF-8 bytes.
        units = length < INT32_MAX ? malloc(length * sizeof *units) : NULL;
        if (units == NULL) {
            binding_throw_no_memory(env);
            return NULL;
        }
    }
    size_t n = 0;
    for (size_t i = 0, used; i < length; i += used) {
        const uint32_t c = get_utf8((const unsigned char *)text + i, length - i, &used);
        if (c >= 0x10000) {
            units[n++] = (jchar)(0xd800 + ((c - 0x10000) >> 10));
            units[n++] = (jchar)(0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            units[n++] = (jchar)c;
        }
    }
    const jstring string = (*env)->NewString(env, units, (jsize)n);
    if (units != small) {
        free(units);
    }
    if (string == NULL) {
        binding_no_error(env);
    }
    return string;
}
