// SPDX-License-Identifier: BSD-2-Clause
#include "common/suffix.h"

#include <string.h>
#include <strings.h>

bool suffix_among(const char *name, const char *list)
{
    const size_t length = strlen(name);
    while (*list != '\0') {
        const size_t suffix = strcspn(list, " ");
        if (length > suffix && name[length - suffix - 1] != '/' &&
            strncasecmp(name + length - suffix, list, suffix) == 0) {
            return true;
        }
        list += suffix + (list[suffix] == ' ');
    }
    return false;
}
