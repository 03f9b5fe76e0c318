// SPDX-License-Identifier: BSD-2-Clause
// The instruction sets that a test, a fuzzer or a benchmark may use: those in the environment variable TAPER_CPU_MASK,
// in the syntax of the programs' option --cpu, or all if it is not set.
#ifndef TAPER_TESTS_CPU_MASK_H
#define TAPER_TESTS_CPU_MASK_H

#include <stdlib.h>

#include "tools/common/cpu_names.h"

// Returns cpu_mask for taper_context_options. Ends the program if the machine lacks one of the sets.
static inline uint64_t test_cpu_mask(void)
{
    const char *names = getenv("TAPER_CPU_MASK");
    char message[512];
    uint64_t mask = 0;
    if (names != NULL && names[0] != '\0' && !cpu_names_parse(names, &mask, message, sizeof message)) {
        fprintf(stderr, "TAPER_CPU_MASK: %s\n", message);
        exit(2);
    }
    return mask;
}

#endif
