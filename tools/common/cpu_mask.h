// SPDX-License-Identifier: BSD-2-Clause
// Chooses the instruction sets that a program may use: those in the option --cpu, or without that option those in the
// environment variable TAPER_CPU_MASK.
#ifndef TAPER_TOOLS_CPU_MASK_H
#define TAPER_TOOLS_CPU_MASK_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_OPTION_USAGE                                                                                               \
    "  --cpu SET,…         instruction sets to use and those they need, as scalar or avx2 (default: what the\n"      \
    "                      environment variable TAPER_CPU_MASK says, or all that the CPU has)\n"

// Reads the names in --cpu, or in the environment variable if names is NULL. *mask is for cpu_mask of
// taper_context_options. Returns false after an unknown name was reported.
bool cpu_mask_read(const char *names, uint64_t *mask);

#endif
