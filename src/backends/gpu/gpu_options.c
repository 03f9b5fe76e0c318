// SPDX-License-Identifier: BSD-2-Clause
// Reads the options of GPUs from settings. Each setting becomes 0 or 1.
#include "backends/gpu/gpu_options.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    taper_option option;
    size_t at;
} members[] = {
    {TAPER_GPU_SOFTWARE, offsetof(taper_gpu_options, software)},
    {TAPER_GPU_TEXELS, offsetof(taper_gpu_options, texels)},
    {TAPER_GPU_ALIAS, offsetof(taper_gpu_options, alias)},
    {TAPER_GPU_TILES, offsetof(taper_gpu_options, tiles)},
    {TAPER_GPU_SHARE, offsetof(taper_gpu_options, share)},
    {TAPER_GPU_HALF, offsetof(taper_gpu_options, half)},
    {TAPER_GPU_WINOGRAD, offsetof(taper_gpu_options, winograd)},
    {TAPER_GPU_TIMES, offsetof(taper_gpu_options, times)},
    {TAPER_GPU_CHECKS, offsetof(taper_gpu_options, checks)},
    {TAPER_GPU_BACKGROUND, offsetof(taper_gpu_options, background)},
    {TAPER_GPU_ESTIMATE, offsetof(taper_gpu_options, estimate)},
    {TAPER_GPU_TEAMS, offsetof(taper_gpu_options, teams)},
};

void taper_gpu_options_set(const taper_device_setting *settings, size_t count, taper_gpu_options *options)
{
    *options = (taper_gpu_options){.texels = -1,
                                   .alias = -1,
                                   .tiles = -1,
                                   .share = -1,
                                   .teams = -1,
                                   .checks = -1,
                                   .winograd = -1,
                                   .background = -1,
                                   .estimate = -1};
    for (size_t i = 0; i < count; i++) {
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            if (members[m].option == settings[i].option) {
                *(int *)((char *)options + members[m].at) = settings[i].value != 0;
            }
        }
    }
}

bool taper_gpu_is_called(const char *name, const char *called)
{
    const size_t length = strlen(called);
    for (; *name != '\0'; name++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)name[i]) == tolower((unsigned char)called[i])) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}
