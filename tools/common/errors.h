// SPDX-License-Identifier: BSD-2-Clause
// Reports failures of the programs: a first line "taper: error: SUBJECT: message" on stderr, then details. Control
// characters in text from files are replaced, because they could change the state of the terminal.
#ifndef TAPER_TOOLS_ERRORS_H
#define TAPER_TOOLS_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <taper/taper.h>

#if defined(__GNUC__)
#ifdef __MINGW32__ // MinGW's own printf takes the formats of C; the system's printf does not
#define ERRORS_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#else
#define ERRORS_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#endif
#else
#define ERRORS_PRINTF(format_index, first)
#endif

enum { EXIT_WORK_FAILED = 1, EXIT_WRONG_USAGE = 2 };

// Sets the name that begins each message, which is "taper" by default. The text must stay valid.
void errors_set_program(const char *name);

// These functions print and return false, so that a failure is written `return error_report(...)`. subject names the
// file, the input or the operator; NULL omits it.
bool error_report(const char *subject, const char *format, ...) ERRORS_PRINTF(2, 3);
bool error_report_library(const char *subject, const taper_error *error);
bool error_report_memory(const char *subject);

// Returns true if an error was reported. After an error, programs omit notes, so that the error is the last thing the
// user sees.
bool errors_reported(void);

// Prints the message and the command that prints the usage text, which is taken from the beginning of `usage`:
// "usage: taper run MODEL …". Returns EXIT_WRONG_USAGE.
int error_usage(const char *usage, const char *format, ...) ERRORS_PRINTF(2, 3);

// Writes text from a file. Control characters become '?'. If `lines` is true, newlines and tabs are kept.
void text_put(FILE *stream, const char *text, size_t length, bool lines);

#endif
