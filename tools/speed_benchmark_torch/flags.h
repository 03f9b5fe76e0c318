// SPDX-License-Identifier: BSD-2-Clause
// Flags of PyTorch's benchmark program: --name=value, --name value; a bool may stand alone, or as --noname.
#ifndef TAPER_TOOLS_FLAGS_H
#define TAPER_TOOLS_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum flag_kind { FLAG_TEXT, FLAG_INT, FLAG_BOOL } flag_kind;

typedef struct flag {
    const char *name, *summary;
    flag_kind kind;
    void *target; // const char *, int or bool; NULL: accepted and ignored
} flag;

// False after a report on stderr. `help` is set when --help was given. Arguments that are no flags are ignored.
bool flags_parse(const flag *flags, size_t count, int argc, char **argv, bool *help);
void flags_put_help(const flag *flags, size_t count);

#endif
