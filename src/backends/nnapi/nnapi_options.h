// SPDX-License-Identifier: BSD-2-Clause
// The options of NNAPI: for a device that is opened (taper_load_options.settings), and for a conversion
// (taper_nnapi_conversion).
#ifndef TAPER_BACKENDS_NNAPI_OPTIONS_H
#define TAPER_BACKENDS_NNAPI_OPTIONS_H

#include "base/status.h"

typedef struct taper_nnapi_options {
    int preference; // code ANEURALNETWORKS_PREFER_…: whether speed or low power matters most
    int level;      // Android API level, 27 to 31: newer functions and operations are not used
    bool relax;     // true if drivers may compute in half precision
} taper_nnapi_options;

// Applies the settings with which a device was opened to *options, which contains the defaults.
void taper_nnapi_options_set(const taper_device_setting *settings, size_t count, taper_nnapi_options *options);
// Returns the ANEURALNETWORKS_PREFER_ code of a preference other than the default.
int taper_nnapi_preference_code(taper_nnapi_preference preference);

#endif
