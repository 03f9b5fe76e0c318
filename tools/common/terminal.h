// SPDX-License-Identifier: BSD-2-Clause
// What the terminal can show, and progress of long work on stderr when that is a terminal.
#ifndef TAPER_TOOLS_TERMINAL_H
#define TAPER_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

bool terminal_has_colors(FILE *stream); // a terminal, and NO_COLOR is not set
bool terminal_has_unicode(void);        // by the locale variables

int terminal_columns(FILE *stream); // its width; 0 when it is none, or does not say

// A bar of `width` columns, filled to `part` of it.
void terminal_bar(FILE *stream, double part, int width);

typedef struct progress {
    const char *what;
    double shown_at; // when the line was last drawn
    bool active;
} progress;

// Draws "what 12/50" at most ten times a second.
void progress_begin(progress *p, const char *what);
void progress_step(progress *p, size_t done, size_t total);
void progress_end(progress *p); // wipes the line

double clock_seconds(void); // monotonic

#endif
