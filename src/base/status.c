// SPDX-License-Identifier: BSD-2-Clause
// Error objects. Their memory comes from malloc, not from a context's allocator. An error must outlive the context
// whose creation failed, and "out of memory" must not depend on the allocator that has just failed. A message that
// cannot be allocated is shortened to the fixed buffer.
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 1024, DETAIL_LIMIT = 1 << 20 };

struct taper_error {
    taper_status status;
    int64_t offset;
    size_t detail_length, detail_capacity;
    char *detail;
    char message[MESSAGE_SIZE];
};

taper_error *taper_error_create(void)
{
    taper_error *error = calloc(1, sizeof *error);
    if (error != NULL) {
        error->offset = -1;
    }
    return error;
}

void taper_error_destroy(taper_error *error)
{
    if (error != NULL) {
        free(error->detail);
        free(error);
    }
}

taper_status taper_error_status(const taper_error *error)
{
    return error != NULL ? error->status : TAPER_OK;
}

const char *taper_error_message(const taper_error *error)
{
    return error != NULL ? error->message : "";
}

const char *taper_error_detail(const taper_error *error)
{
    return error != NULL && error->detail != NULL ? error->detail : "";
}

int64_t taper_error_offset(const taper_error *error)
{
    return error != NULL ? error->offset : -1;
}

void taper_error_clear(taper_error *error)
{
    if (error != NULL) {
        error->status = TAPER_OK;
        error->offset = -1;
        error->message[0] = '\0';
        error->detail_length = 0;
        if (error->detail != NULL) {
            error->detail[0] = '\0';
        }
    }
}

// Escapes control characters, so that the message remains one line and text from a file cannot control a terminal.
static void clean(char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
        if (c < 0x20 || c == 0x7f) {
            *text = ' ';
        } else if (c == 0xc2 && next >= 0x80 && next < 0xa0) { // U+0080 to U+009F control terminals too
            *text++ = ' ';
            *text = ' ';
        }
    }
}

static void set(taper_error *error, taper_status status, int64_t offset, const char *format, va_list list)
{
    if (error == NULL) {
        return;
    }
    taper_error_clear(error);
    error->status = status;
    error->offset = offset;
    (void)vsnprintf(error->message, sizeof error->message, format, list);
    clean(error->message);
}

taper_status taper_fail(taper_error *error, taper_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    set(error, status, -1, format, list);
    va_end(list);
    return status;
}

taper_status taper_fail_at(taper_error *error, taper_status status, int64_t offset, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    set(error, status, offset, format, list);
    va_end(list);
    return status;
}

taper_status taper_fail_memory(taper_error *error)
{
    return taper_fail(error, TAPER_ERROR_RESOURCE, "out of memory");
}

void taper_error_prefix(taper_error *error, const char *format, ...)
{
    if (error == NULL) {
        return;
    }
    char old[MESSAGE_SIZE];
    memcpy(old, error->message, sizeof old);
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(error->message, sizeof error->message, format, list);
    va_end(list);
    if (n >= 0 && (size_t)n < sizeof error->message) {
        const size_t room = sizeof error->message - (size_t)n;
        (void)snprintf(error->message + n, room, "%.*s", (int)(room - 1), old);
    }
    clean(error->message);
}

void taper_error_add_detail(taper_error *error, const char *format, ...)
{
    if (error == NULL) {
        return;
    }
    char line[MESSAGE_SIZE];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n <= 0) {
        return;
    }
    const size_t length = strlen(line);
    if (error->detail_length + length + 1 > error->detail_capacity) {
        const size_t capacity = 2 * (error->detail_length + length + 1);
        char *detail = capacity <= DETAIL_LIMIT ? realloc(error->detail, capacity) : NULL;
        if (detail == NULL) {
            return;
        }
        error->detail = detail;
        error->detail_capacity = capacity;
    }
    memcpy(error->detail + error->detail_length, line, length + 1);
    error->detail_length += length;
}
