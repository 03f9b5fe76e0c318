// SPDX-License-Identifier: BSD-2-Clause
// How the programs report failure: a first line "taper: error: SUBJECT: message" on stderr, details after it.
// Text that comes from files is printed with control characters replaced, so that it cannot drive the terminal.
#ifndef TAPER_TOOLS_ERRORS_H
#define TAPER_TOOLS_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <taper/taper.h>

#if defined(__GNUC__)
#define ERRORS_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define ERRORS_PRINTF(format_index, first)
#endif

enum { EXIT_WORK_FAILED = 1, EXIT_WRONG_USAGE = 2 };

// The name that begins each message; "taper" unless set. The text must stay valid.
void errors_set_program(const char *name);

// Both print and return false, so that a failure reads `return error_report(...)`. subject names the file, the input or
// the operator; NULL leaves it out.
bool error_report(const char *subject, const char *format, ...) ERRORS_PRINTF(2, 3);
bool error_report_library(const char *subject, const taper_error *error);
bool error_report_memory(const char *subject);

// Whether any of these was called: remarks are left out then, so that the error is what the user sees.
bool errors_reported(void);

// Prints the message and where the usage text is to be read: of the program and the verb that the text begins with,
// "usage: taper run MODEL …". Returns EXIT_WRONG_USAGE.
int error_usage(const char *usage, const char *format, ...) ERRORS_PRINTF(2, 3);

// Writes foreign text; control characters become '?', newlines and tabs stay when `lines`.
void text_put(FILE *stream, const char *text, size_t length, bool lines);

#endif
