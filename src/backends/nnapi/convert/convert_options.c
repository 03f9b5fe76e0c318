// SPDX-License-Identifier: BSD-2-Clause
// The settings of a conversion for NNAPI: reads them from text, and checks them.
#include <string.h>

#include <taper/taper_compile.h>

#include "backends/nnapi/convert/convert.h"
#include "base/arguments.h"

typedef enum member { LAYOUT, SIZES, LEVEL, PREFERENCE, RELAX } member;

static const struct {
    const char *text;
    uint8_t member, value;
} known[] = {
    {"layout=nhwc", LAYOUT, TAPER_NNAPI_NHWC},
    {"layout=pytorch", LAYOUT, TAPER_NNAPI_PYTORCH},
    {"layout=pytorch_nhwc", LAYOUT, TAPER_NNAPI_PYTORCH_NHWC},
    {"flexible=none", SIZES, TAPER_NNAPI_FIXED_SIZES},
    {"flexible=batch", SIZES, TAPER_NNAPI_ANY_BATCH},
    {"flexible=sizes", SIZES, TAPER_NNAPI_ANY_SIZES},
    {"level=27", LEVEL, 27},
    {"level=28", LEVEL, 28},
    {"level=29", LEVEL, 29},
    {"level=30", LEVEL, 30},
    {"level=31", LEVEL, 31},
    {"preference=low_power", PREFERENCE, TAPER_NNAPI_LOW_POWER},
    {"preference=fast_single_answer", PREFERENCE, TAPER_NNAPI_FAST_SINGLE_ANSWER},
    {"preference=sustained_speed", PREFERENCE, TAPER_NNAPI_SUSTAINED_SPEED},
    {"relax_f32_to_f16=0", RELAX, 0},
    {"relax_f32_to_f16=1", RELAX, 1},
};

static bool read_one(const char *text, size_t length, taper_nnapi_conversion *conversion)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const int value = known[i].value;
        if (strlen(known[i].text) != length || memcmp(known[i].text, text, length) != 0) {
            continue;
        }
        switch ((member)known[i].member) {
        case LAYOUT:
            conversion->layout = (taper_nnapi_layout)value;
            break;
        case SIZES:
            conversion->sizes = (taper_nnapi_sizes)value;
            break;
        case LEVEL:
            conversion->level = value;
            break;
        case PREFERENCE:
            conversion->preference = (taper_nnapi_preference)value;
            break;
        case RELAX:
            conversion->relax_f32_to_f16 = value;
            break;
        }
        return true;
    }
    return false;
}

taper_status taper_nnapi_conversion_parse(const char *text, taper_nnapi_conversion *conversion, taper_error *error)
{
    TAPER_NEED(conversion, error);
    taper_nnapi_conversion read = {.struct_size = sizeof read};
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (!read_one(at, length, &read)) {
            TAPER_FAIL(
                error, TAPER_ERROR_ARGUMENT,
                "setting \"%.*s\" of a conversion should be layout=nhwc, pytorch or pytorch_nhwc, flexible=none, "
                "batch or sizes, level=27 to 31, preference=low_power, fast_single_answer or sustained_speed, or "
                "relax_f32_to_f16=0 or 1, with commas between",
                length < 60 ? (int)length : 60, at);
        }
        at += length + (at[length] == ',');
    }
    return taper_struct_write(conversion, "taper_nnapi_conversion", &read, sizeof read, error);
}

taper_status taper_nnapi_conversion_read(const taper_nnapi_conversion *given, taper_nnapi_conversion *conversion,
                                         taper_error *error)
{
    TAPER_TRY(taper_struct_read(given, "taper_nnapi_conversion", conversion, sizeof *conversion, error));
    // The default is the level of PyTorch's converter.
    conversion->level = conversion->level != 0 ? conversion->level : 29;
    if (conversion->preference == TAPER_NNAPI_DEFAULT) {
        conversion->preference = TAPER_NNAPI_SUSTAINED_SPEED;
    }
    if ((unsigned)conversion->layout > TAPER_NNAPI_PYTORCH_NHWC ||
        (unsigned)conversion->sizes > TAPER_NNAPI_ANY_SIZES ||
        (unsigned)conversion->preference > TAPER_NNAPI_SUSTAINED_SPEED || conversion->level < 27 ||
        conversion->level > 31) {
        TAPER_FAIL(
            error, TAPER_ERROR_ARGUMENT,
            "taper_nnapi_conversion has a layout, sizes, a preference or a level that is not known (levels are 27 "
            "to 31)");
    }
    if (conversion->layout != TAPER_NNAPI_NHWC && conversion->sizes != TAPER_NNAPI_FIXED_SIZES) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "flexible sizes are for layout=nhwc (TAPER_NNAPI_NHWC)");
    }
    return TAPER_OK;
}
