// SPDX-License-Identifier: BSD-2-Clause
// Implements double_world.h.
#include "tests/nnapi/double_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char log_path[64];

int double_level(void)
{
    const char *level = getenv("TAPER_TEST_NNAPI_LEVEL");
    if (level == NULL) {
        fail_msg("TAPER_TEST_NNAPI_LEVEL and LD_LIBRARY_PATH should say which double; CTest does");
    }
    return atoi(level);
}

void double_switch(const char *switches)
{
    if (log_path[0] == '\0') {
        snprintf(log_path, sizeof log_path, "/tmp/taper_nnapi_world.%ld", (long)getpid());
        unlink(log_path);
        setenv("TAPER_NNAPI_DOUBLE_LOG", log_path, 1);
    }
    if (switches == NULL) {
        unsetenv("TAPER_NNAPI_DOUBLE");
    } else {
        setenv("TAPER_NNAPI_DOUBLE", switches, 1);
    }
}

void double_is_silent(void)
{
    char text[2048];
    FILE *file = fopen(log_path, "r");
    if (file == NULL) {
        return;
    }
    const size_t got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    fclose(file);
    unlink(log_path);
    fail_msg("the double says: %s", text);
}
