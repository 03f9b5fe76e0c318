// SPDX-License-Identifier: BSD-2-Clause
// The instruction sets that a test, a fuzzer or a benchmark may use: those that the environment variable TAPER_CPU_MASK
// names as the programs' option --cpu does; all where it is not set.
#ifndef TAPER_TESTS_CPU_MASK_H
#define TAPER_TESTS_CPU_MASK_H

#include <stdlib.h>

#include "tools/common/cpu_names.h"

// cpu_mask of taper_context_options. Ends the program when the machine lacks one.
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
