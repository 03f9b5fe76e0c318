// SPDX-License-Identifier: BSD-2-Clause
// Options of GPUs, all that there are: each is 0 or 1.
#include "backends/gpu/gpu_options.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} known[] = {
    {"software", offsetof(taper_gpu_options, software)}, {"texels", offsetof(taper_gpu_options, texels)},
    {"alias", offsetof(taper_gpu_options, alias)},       {"tiles", offsetof(taper_gpu_options, tiles)},
    {"share", offsetof(taper_gpu_options, share)},       {"half", offsetof(taper_gpu_options, half)},
    {"winograd", offsetof(taper_gpu_options, winograd)}, {"times", offsetof(taper_gpu_options, times)},
    {"checks", offsetof(taper_gpu_options, checks)},     {"background", offsetof(taper_gpu_options, background)},
    {"estimate", offsetof(taper_gpu_options, estimate)}, {"teams", offsetof(taper_gpu_options, teams)},
};

static bool read_option(const char *text, size_t length, taper_gpu_options *options)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t name = strlen(known[i].name);
        if (length == name + 2 && memcmp(text, known[i].name, name) == 0 && text[name] == '=' &&
            (text[name + 1] == '0' || text[name + 1] == '1')) {
            *(int *)((char *)options + known[i].at) = text[name + 1] - '0';
            return true;
        }
    }
    return false;
}

taper_status taper_gpu_options_read(const char *text, taper_gpu_options *options, taper_error *error)
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
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (!read_option(at, length, options)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "device_options \"%.*s\" should be software=1, texels=0 or 1, alias=0 or 1, tiles=0 or 1, "
                       "share=0 or 1, teams=0 or 1, checks=0 or 1, half=1, winograd=0 or 1, background=0 or 1, "
                       "estimate=0 or 1, or "
                       "times=1, with commas between",
                       length < 60 ? (int)length : 60, at);
        }
        at += length + (at[length] == ',');
    }
    return TAPER_OK;
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
