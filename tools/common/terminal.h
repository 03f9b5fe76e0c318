// SPDX-License-Identifier: BSD-2-Clause
// Tells the abilities of the terminal, and draws a progress line on stderr for long work.
#ifndef TAPER_TOOLS_TERMINAL_H
#define TAPER_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

bool terminal_has_colors(FILE *stream); // returns true if the stream is a terminal and NO_COLOR is not set
bool terminal_has_unicode(void);        // returns true if the locale variables name UTF-8

// Returns the width of the terminal; 0 if the stream is not a terminal or its width is unknown.
int terminal_columns(FILE *stream);

// Draws a bar of `width` columns; the fraction `part` (0 to 1) of it is filled.
void terminal_bar(FILE *stream, double part, int width);

typedef struct progress {
    const char *what;
    double shown_at; // time at which the line was last drawn, in seconds
    bool active;
} progress;

// These functions draw a line such as "what 12/50", at most ten times a second.
void progress_begin(progress *p, const char *what);
void progress_step(progress *p, size_t done, size_t total);
void progress_end(progress *p); // removes the progress line

double clock_seconds(void); // returns monotonic time in seconds

#endif
