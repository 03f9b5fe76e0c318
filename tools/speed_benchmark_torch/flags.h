// SPDX-License-Identifier: BSD-2-Clause
// Parses the flags of PyTorch's benchmark program: --name=value or --name value. A bool may be --name or --noname.
#ifndef TAPER_TOOLS_FLAGS_H
#define TAPER_TOOLS_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum flag_kind { FLAG_TEXT, FLAG_INT, FLAG_BOOL } flag_kind;

typedef struct flag {
    const char *name, *summary;
    flag_kind kind;
    void *target; // variable for the value, a const char *, int or bool; NULL if the flag is accepted and ignored
} flag;

// Parses the flags and ignores arguments that are no flags. Sets *help if --help is given. Returns false after
// reporting an error on stderr.
bool flags_parse(const flag *flags, size_t count, int argc, char **argv, bool *help);
void flags_put_help(const flag *flags, size_t count);

#endif
