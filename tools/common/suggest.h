// SPDX-License-Identifier: BSD-2-Clause
// Spelling help, for example "did you mean --threads?": finds the name closest to an unknown name.
#ifndef TAPER_TOOLS_SUGGEST_H
#define TAPER_TOOLS_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_LENGTH = 96 }; // longest name in bytes that is compared

typedef struct suggestion {
    const char *name; // the unknown name, not NUL-terminated
    size_t length;
    const char *best; // closest known name; NULL if no name is close
    size_t distance;
    const char *prefix; // prefix of the suggested name; "" by default
    char text[SUGGEST_LENGTH + 32];
} suggestion;

suggestion suggest_for(const char *name, size_t length);
void suggest_among(suggestion *s, const char *candidate);
// Returns "; did you mean BEST?", or "" if no name is close. The text is stored in the suggestion.
const char *suggest_text(suggestion *s);

#endif
