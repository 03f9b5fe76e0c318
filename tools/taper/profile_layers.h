// SPDX-License-Identifier: BSD-2-Clause
// Which layer an operator of a profile belongs to: the module of the model as it was saved, "features.0.conv".
#ifndef TAPER_TOOLS_PROFILE_LAYERS_H
#define TAPER_TOOLS_PROFILE_LAYERS_H

#include <taper/taper_inspect.h>

#include "taper/inputs.h"

typedef struct named_value {
    char *method;
    uint32_t value;
    char *module;
} named_value;

typedef struct profile_layers {
    named_value *items; // sorted
    size_t count, capacity;
    bool failed;
} profile_layers;

// Runs the method once more as it was saved, where values have the numbers that they have in the optimized model and
// operators take their weights from modules. A model that cannot be run so has no names; only a lack of memory is
// reported.
bool profile_layers_find(const opened_model *opened, const model_options *options, const char *method,
                         const call_inputs *inputs, profile_layers *layers);
void profile_layers_release(profile_layers *layers);
// "" when none is known.
const char *profile_layers_module(const profile_layers *layers, const taper_profile_item *item);

#endif
