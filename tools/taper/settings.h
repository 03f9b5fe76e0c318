// SPDX-License-Identifier: BSD-2-Clause
// The model's extra file taper.json, an object. taper_app.h says what it holds; the library reads it, and here its
// member "inputs" is written (taper quantize --mode full), with which float tensors can be given where the model takes
// quantized ones.
#ifndef TAPER_TOOLS_SETTINGS_H
#define TAPER_TOOLS_SETTINGS_H

#include <taper/taper_compile.h>

#include "common/json_value.h"
#include "taper/opened_model.h"

extern const char settings_name[]; // "taper.json"

// *settings is freed by json_free; NULL when the model carries none. Failures are reported.
bool settings_read(const opened_model *opened, json_value **settings);

// Input `index` of forward, when it is a float tensor where a quantized one is wanted, becomes that: *value is
// replaced. Failures are reported.
bool settings_quantize_input(const opened_model *opened, size_t index, taper_value **value);

// The text of the file with "inputs" as calibration found them, and everything else that was in it. *text is freed by
// the caller; NULL when no input is quantized.
bool settings_with_inputs(const opened_model *opened, const taper_calibrator *calibrator, char **text, size_t *size);

#endif
