// SPDX-License-Identifier: BSD-2-Clause
// "Did you mean --threads?": the nearest of the names that there are, for a name that there is not.
#ifndef TAPER_TOOLS_SUGGEST_H
#define TAPER_TOOLS_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_LENGTH = 96 }; // longer names are not compared

typedef struct suggestion {
    const char *name; // what was written; need not end at length
    size_t length;
    const char *best; // NULL: nothing is near
    size_t distance;
    const char *prefix; // of what is suggested; "" unless set
    char text[SUGGEST_LENGTH + 32];
} suggestion;

suggestion suggest_for(const char *name, size_t length);
void suggest_among(suggestion *s, const char *candidate);
// "; did you mean BEST?", or "". The text is the suggestion's.
const char *suggest_text(suggestion *s);

#endif
