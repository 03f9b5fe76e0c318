// SPDX-License-Identifier: BSD-2-Clause
// Limits on a run, which are options of the commands that run a user's model.
#ifndef TAPER_TOOLS_RUN_LIMITS_H
#define TAPER_TOOLS_RUN_LIMITS_H

#include <taper/taper.h>

#include "common/args.h"

typedef struct run_limits {
    const char *seconds; // time budget in seconds, as text; NULL for no limit
    long megabytes;      // memory budget in MiB; 0 for no limit
} run_limits;

enum { RUN_LIMIT_MOST = 1000000000 };

#define RUN_LIMIT_ROWS(l)                                                                                              \
    {"--time-limit", 0, ARG_TEXT, &(l).seconds, 0, 0},                                                                 \
    {                                                                                                                  \
        "--memory-limit", 0, ARG_COUNT, &(l).megabytes, 1, RUN_LIMIT_MOST                                              \
    }

#define RUN_LIMIT_USAGE                                                                                                \
    "  --time-limit S      seconds that a run may take (default: no limit)\n"                                          \
    "  --memory-limit MB   what its values may take at once (default: no limit)\n"

// Writes the limits to *session. Returns ARGS_GO_ON, or the exit status after a wrong option was reported.
int run_limits_read(const run_limits *limits, const char *usage, taper_session_options *session);

#endif
