// SPDX-License-Identifier: BSD-2-Clause
// The names of passes that --disable leaves out: NAME,NAME,… any number of times.
#ifndef TAPER_TOOLS_PASS_NAMES_H
#define TAPER_TOOLS_PASS_NAMES_H

#include <stdbool.h>

#include "common/args.h"

typedef struct pass_names {
    const char **items; // for taper_load_options.disabled_passes
    size_t count;
    char *text;
} pass_names;

// ARGS_GO_ON, or the exit status if a name is no pass, which is reported.
int passes_check(const arg_texts *disable, const char *usage);
// Takes the lists apart and adds one more name; NULL: none. False if there is no memory.
bool pass_names_read(const arg_texts *disable, const char *also, pass_names *names);
void pass_names_free(pass_names *names);

#endif
