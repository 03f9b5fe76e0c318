// SPDX-License-Identifier: BSD-2-Clause
// Converts comma-separated names of instruction sets to a cpu_mask of taper_context_options. Programs use
// common/cpu_mask.h, tests and benchmarks tests/cpu_mask.h.
#ifndef TAPER_TOOLS_CPU_NAMES_H
#define TAPER_TOOLS_CPU_NAMES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <taper/taper.h>

// Each name must be a name that taper_instruction_set returns. *mask allows these sets and the sets that they require.
// Returns false for an unknown name; `message` then names it and lists the known names.
static inline bool cpu_names_parse(const char *names, uint64_t *mask, char *message, size_t size)
{
    *mask = TAPER_CPU_NONE;
    for (bool more = true; more;) {
        const size_t length = strcspn(names, ",");
        const char *set;
        uint64_t with = 0;
        size_t i = 0;
        while ((set = taper_instruction_set(i, &with)) != NULL &&
               (strlen(set) != length || memcmp(set, names, length) != 0)) {
            i++;
        }
        if (set == NULL) {
            size_t used =
                (size_t)snprintf(message, size, "no instruction set \"%.*s\" in this CPU and this build; there are:",
                                 length < 64 ? (int)length : 64, names);
            for (i = 0; (set = taper_instruction_set(i, NULL)) != NULL && used < size; i++) {
                used += (size_t)snprintf(message + used, size - used, "%s %s", i != 0 ? "," : "", set);
            }
            return false;
        }
        *mask |= with;
        more = names[length] == ',';
        names += length + more;
    }
    return true;
}

#endif
