// SPDX-License-Identifier: BSD-2-Clause
// Names of passes that the compiler leaves out: the values of the option --disable. The option may be given several
// times, each time with a comma-separated list.
#ifndef TAPER_TOOLS_PASS_NAMES_H
#define TAPER_TOOLS_PASS_NAMES_H

#include <stdbool.h>

#include "common/args.h"

typedef struct pass_names {
    const char **items; // names for taper_load_options.disabled_passes; they point into `text`
    size_t count;
    char *text;
} pass_names;

// Returns ARGS_GO_ON, or the exit status after an unknown pass name was reported.
int passes_check(const arg_texts *disable, const char *usage);
// Splits the lists and appends the name `also`, unless it is NULL. Returns false if memory runs out. The caller calls
// pass_names_free.
bool pass_names_read(const arg_texts *disable, const char *also, pass_names *names);
void pass_names_free(pass_names *names);

#endif
