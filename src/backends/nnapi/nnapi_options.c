// SPDX-License-Identifier: BSD-2-Clause
// The options of NNAPI, all that there are.
#include "backends/nnapi/nnapi_options.h"

#include <string.h>

#include "backends/nnapi/neural_networks.h"

typedef enum option { PREFERENCE, RELAX, LEVEL, LAYOUT, FLEXIBLE } option;

static const struct {
    const char *text;
    uint8_t option, value;
} known[] = {
    {"preference=low_power", PREFERENCE, ANEURALNETWORKS_PREFER_LOW_POWER},
    {"preference=fast_single_answer", PREFERENCE, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER},
    {"preference=sustained_speed", PREFERENCE, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED},
    {"relax_f32_to_f16=0", RELAX, 0},
    {"relax_f32_to_f16=1", RELAX, 1},
    {"level=27", LEVEL, 27},
    {"level=28", LEVEL, 28},
    {"level=29", LEVEL, 29},
    {"level=30", LEVEL, 30},
    {"level=31", LEVEL, 31},
    {"layout=nhwc", LAYOUT, TAPER_NNAPI_IMAGES},
    {"layout=pytorch", LAYOUT, TAPER_NNAPI_PYTORCH},
    {"layout=pytorch_nhwc", LAYOUT, TAPER_NNAPI_PYTORCH_IMAGES},
    {"flexible=none", FLEXIBLE, TAPER_NNAPI_FIXED},
    {"flexible=batch", FLEXIBLE, TAPER_NNAPI_ANY_BATCH},
    {"flexible=sizes", FLEXIBLE, TAPER_NNAPI_ANY_SIZES},
};

static bool read_option(const char *text, size_t length, bool of_file, taper_nnapi_options *options)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint8_t value = known[i].value;
        if (strlen(known[i].text) != length || memcmp(known[i].text, text, length) != 0 ||
            (known[i].option >= LAYOUT && !of_file)) {
            continue;
        }
        switch ((option)known[i].option) {
        case PREFERENCE:
            options->preference = value;
            break;
        case RELAX:
            options->relax = value != 0;
            break;
        case LEVEL:
            options->level = value;
            break;
        case LAYOUT:
            options->layout = (taper_nnapi_layout)value;
            break;
        case FLEXIBLE:
            options->flexible = (taper_nnapi_flexible)value;
            break;
        }
        return true;
    }
    return false;
}

taper_status taper_nnapi_options_read(const char *text, bool of_file, taper_nnapi_options *options, taper_error *error)
{
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (!read_option(at, length, of_file, options)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "%s \"%.*s\" should be preference=low_power, fast_single_answer or sustained_speed, "
                       "relax_f32_to_f16=0 or 1%s, or level=27 to 31, with commas between",
                       of_file ? "backend_options" : "device_options", length < 60 ? (int)length : 60, at,
                       of_file ? ", layout=nhwc, pytorch or pytorch_nhwc, flexible=none, batch or sizes" : "");
        }
        at += length + (at[length] == ',');
    }
    return TAPER_OK;
}
