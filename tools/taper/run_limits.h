// SPDX-License-Identifier: BSD-2-Clause
// What a run may cost, as options of the verbs that run a model of somebody.
#ifndef TAPER_TOOLS_RUN_LIMITS_H
#define TAPER_TOOLS_RUN_LIMITS_H

#include <taper/taper.h>

#include "common/args.h"

typedef struct run_limits {
    const char *seconds; // NULL: no limit
    long megabytes;      // 0: no limit
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

// -1 to go on, or the exit status of a wrong option (reported).
int run_limits_read(const run_limits *limits, const char *usage, taper_session_options *session);

#endif
