// SPDX-License-Identifier: BSD-2-Clause
// Finds the layer of each operator of a profile: its module in the saved model, for example "features.0.conv".
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
    named_value *items; // values with the names of their modules, sorted by method and value number
    size_t count, capacity;
    bool failed;
} profile_layers;

// Runs the method once without optimization. In this run, values have the same numbers as in the optimized model, and
// operators read their weights from modules, whose names are known. If this run fails, no layer has a name; only lack
// of memory is reported as a failure.
bool profile_layers_find(const opened_model *opened, const model_options *options, const char *method,
                         const call_inputs *inputs, profile_layers *layers);
void profile_layers_release(profile_layers *layers);
// Returns the name of the module, or "" if the module is unknown.
const char *profile_layers_module(const profile_layers *layers, const taper_profile_item *item);

#endif
