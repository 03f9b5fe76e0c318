// SPDX-License-Identifier: BSD-2-Clause
#include "common/cpu_mask.h"

#include <stdlib.h>

#include "common/cpu_names.h"
#include "common/errors.h"

bool cpu_mask_read(const char *names, uint64_t *mask)
{
    const char *given = names != NULL ? names : getenv("TAPER_CPU_MASK");
    char message[512];
    *mask = 0;
    return given == NULL || (names == NULL && given[0] == '\0') ||
           cpu_names_parse(given, mask, message, sizeof message) ||
           error_report(names != NULL ? "--cpu" : "TAPER_CPU_MASK", "%s", message);
}
