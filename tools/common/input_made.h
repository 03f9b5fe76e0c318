// SPDX-License-Identifier: BSD-2-Clause
// The part of input.h that makes tensors out of numbers: of "zeros:1x3x224x224", and of arrays of JSON.
#ifndef TAPER_TOOLS_INPUT_MADE_H
#define TAPER_TOOLS_INPUT_MADE_H

#include "common/input.h"

// Whether the text begins as "zeros:SIZES", "ones:SIZES" or "rand:SIZES", with a dtype behind it or not:
// "ones:8:int64".
bool input_made_is(const char *text);
// rand is uniform in [0, 1): the same numbers in every run, others for every input. Failures are reported.
bool input_made(const input_source *source, const char *text, taper_value **value);

// Numbers, truths or arrays of arrays of them, as torch.tensor() takes them: int64, float32 or bool unless `dtype`
// names another. Failures are reported.
bool input_array(const input_source *source, const json_value *json, const char *dtype, taper_value **value);

#endif
