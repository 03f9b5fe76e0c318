// SPDX-License-Identifier: BSD-2-Clause
// Reads the options of NNAPI from settings.
#include "backends/nnapi/nnapi_options.h"

#include "backends/nnapi/neural_networks.h"

int taper_nnapi_preference_code(taper_nnapi_preference preference)
{
    return preference == TAPER_NNAPI_LOW_POWER         ? ANEURALNETWORKS_PREFER_LOW_POWER
           : preference == TAPER_NNAPI_SUSTAINED_SPEED ? ANEURALNETWORKS_PREFER_SUSTAINED_SPEED
                                                       : ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER;
}

void taper_nnapi_options_set(const taper_device_setting *settings, size_t count, taper_nnapi_options *options)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t value = settings[i].value;
        if (settings[i].option == TAPER_NNAPI_PREFERENCE && value != TAPER_NNAPI_DEFAULT) {
            options->preference = taper_nnapi_preference_code((taper_nnapi_preference)value);
        } else if (settings[i].option == TAPER_NNAPI_RELAX_F32_TO_F16) {
            options->relax = value != 0;
        } else if (settings[i].option == TAPER_NNAPI_LEVEL) {
            options->level = (int)value;
        }
    }
}
