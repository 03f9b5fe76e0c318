// SPDX-License-Identifier: BSD-2-Clause
// The instruction sets that a program may use, as --cpu or, without it, the environment variable TAPER_CPU_MASK names
// them.
#ifndef TAPER_TOOLS_CPU_MASK_H
#define TAPER_TOOLS_CPU_MASK_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_OPTION_USAGE                                                                                               \
    "  --cpu SET,…         instruction sets to use and those they need, as scalar or avx2 (default: what the\n"      \
    "                      environment variable TAPER_CPU_MASK says, or all that the CPU has)\n"

// names: of --cpu, or NULL. *mask is for cpu_mask of taper_context_options. False after a report.
bool cpu_mask_read(const char *names, uint64_t *mask);

#endif
