// SPDX-License-Identifier: BSD-2-Clause
#include "taper/run_limits.h"

#include "common/errors.h"

int run_limits_read(const run_limits *limits, const char *usage, taper_session_options *session)
{
    *session =
        (taper_session_options){.struct_size = sizeof *session, .memory_budget = (size_t)limits->megabytes << 20};
    if (limits->seconds != NULL &&
        (!args_parse_double(limits->seconds, &session->time_budget) || !(session->time_budget > 0))) {
        return error_usage(usage, "--time-limit: \"%s\" is not a number of seconds above 0", limits->seconds);
    }
    return ARGS_GO_ON;
}
