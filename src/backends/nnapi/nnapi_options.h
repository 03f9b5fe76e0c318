// SPDX-License-Identifier: BSD-2-Clause
// The options of NNAPI: of a device that is opened (taper_load_options.settings), and of a conversion
// (taper_nnapi_conversion).
#ifndef TAPER_BACKENDS_NNAPI_OPTIONS_H
#define TAPER_BACKENDS_NNAPI_OPTIONS_H

#include "base/status.h"

typedef struct taper_nnapi_options {
    int preference; // ANEURALNETWORKS_PREFER_
    int level;      // Android API level, 27 to 31: nothing newer is used
    bool relax;     // drivers may compute floats as halves
} taper_nnapi_options;

// Changes *options, which has the defaults, by the settings that a device was opened with.
void taper_nnapi_options_set(const taper_device_setting *settings, size_t count, taper_nnapi_options *options);
// ANEURALNETWORKS_PREFER_ of a preference that is not the default.
int taper_nnapi_preference_code(taper_nnapi_preference preference);

#endif
