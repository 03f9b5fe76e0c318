// SPDX-License-Identifier: BSD-2-Clause
#include "format/lite_module.h"

taper_status taper_lite_flatbuffer_read(taper_blob *blob, taper_lite_module *module, taper_error *error)
{
    (void)blob;
    (void)module;
    TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "flatbuffer models cannot be read yet");
}
