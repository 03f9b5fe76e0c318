// SPDX-License-Identifier: BSD-2-Clause
// Status and error text. Every function that can fail returns a taper_status and takes a taper_error, which may be
// NULL.
#ifndef TAPER_BASE_STATUS_H
#define TAPER_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>

#include <taper/taper.h>

#if defined(__GNUC__)
#ifdef __MINGW32__ // MinGW's own printf, which takes the formats of C; the system's printf does not
#define TAPER_PRINTF(at, first) __attribute__((format(gnu_printf, at, first)))
#else
#define TAPER_PRINTF(at, first) __attribute__((format(printf, at, first)))
#endif
#define TAPER_COLD __attribute__((cold, noinline))
#else
#define TAPER_PRINTF(at, first)
#define TAPER_COLD
#endif

// Evaluates the expression and returns its status from the calling function if the status is not TAPER_OK.
#define TAPER_TRY(expression)                                                                                          \
    do {                                                                                                               \
        const taper_status try_ = (expression);                                                                        \
        if (try_ != TAPER_OK) {                                                                                        \
            return try_;                                                                                               \
        }                                                                                                              \
    } while (0)

// Sets the error and returns the status from the calling function.
#define TAPER_FAIL(error, status, ...) return taper_fail((error), (status), __VA_ARGS__)

// Replaces the text of the error and returns `status`. Control characters are escaped, because the text may quote a
// file.
TAPER_COLD taper_status taper_fail(taper_error *error, taper_status status, const char *format, ...) TAPER_PRINTF(3, 4);
// Does what taper_fail does, and stores the position of the damage in the file, in bytes.
TAPER_COLD taper_status taper_fail_at(taper_error *error, taper_status status, int64_t offset, const char *format, ...)
    TAPER_PRINTF(4, 5);
// Fails with "out of memory".
TAPER_COLD taper_status taper_fail_memory(taper_error *error);
// Prepends text to the message: "NAME: message". Callers of a function that failed use this to add where it failed.
TAPER_COLD void taper_error_prefix(taper_error *error, const char *format, ...) TAPER_PRINTF(2, 3);
// Appends to the detail text, which may have several lines.
TAPER_COLD void taper_error_add_detail(taper_error *error, const char *format, ...) TAPER_PRINTF(2, 3);
void taper_error_clear(taper_error *error);

#endif
