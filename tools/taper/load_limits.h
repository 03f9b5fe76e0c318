// SPDX-License-Identifier: BSD-2-Clause
// Limits on loading a file, which are options of each command that opens a file.
#ifndef TAPER_TOOLS_LOAD_LIMITS_H
#define TAPER_TOOLS_LOAD_LIMITS_H

#include <taper/taper.h>

#include "common/args.h"

typedef struct load_limits {
    // Limits of a load: megabytes of memory, and millions of steps. 0 stands for the default, which depends on the size
    // of the file.
    long megabytes, steps;
} load_limits;

enum { LOAD_LIMIT_MOST = 1000000000 };

#define LOAD_LIMIT_ROWS(l)                                                                                             \
    {"--load-memory", 0, ARG_COUNT, &(l).megabytes, 1, LOAD_LIMIT_MOST},                                               \
    {                                                                                                                  \
        "--load-steps", 0, ARG_COUNT, &(l).steps, 1, LOAD_LIMIT_MOST                                                   \
    }

#define LOAD_LIMIT_USAGE                                                                                               \
    "  --load-memory MB    what opening the file may take (default: 88 and 12 times the file's size)\n"                \
    "  --load-steps M      millions of steps it may take (default: 200 and 400 for each megabyte)\n"

static inline void load_limits_apply(const load_limits *limits, taper_load_options *options)
{
    options->memory_limit = (uint64_t)limits->megabytes << 20;
    options->step_limit = (uint64_t)limits->steps * 1000000;
}

#endif
