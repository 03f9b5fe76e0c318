// SPDX-License-Identifier: BSD-2-Clause
// The model's extra file taper.json, a JSON object that taper_app.h describes. The library reads it. This module writes
// its member "inputs" for `taper quantize --mode full`, so that users can pass float tensors to a model with quantized
// inputs.
#ifndef TAPER_TOOLS_SETTINGS_H
#define TAPER_TOOLS_SETTINGS_H

#include <taper/taper_compile.h>

#include "common/json_value.h"
#include "taper/opened_model.h"

extern const char settings_name[]; // name of the file, "taper.json"

// Reads the file. *settings is NULL if the model has no such file; the caller frees it with json_free. Failures are
// reported.
bool settings_read(const opened_model *opened, json_value **settings);

// Replaces *value, input `index` of forward, by a quantized tensor if it is a float tensor and the settings declare it
// as quantized. Failures are reported.
bool settings_quantize_input(const opened_model *opened, size_t index, taper_value **value);

// Returns in *text the contents of taper.json with "inputs" from the calibration and all other members unchanged, or
// NULL if no input is quantized. The caller frees *text.
bool settings_with_inputs(const opened_model *opened, const taper_calibrator *calibrator, char **text, size_t *size);

#endif
