// SPDX-License-Identifier: BSD-2-Clause
// The part of input.h that makes tensors from numbers: from texts such as "zeros:1x3x224x224", and from arrays of JSON.
#ifndef TAPER_TOOLS_INPUT_MADE_H
#define TAPER_TOOLS_INPUT_MADE_H

#include "common/input.h"

// Returns true if the text has the form "zeros:SIZES", "ones:SIZES" or "rand:SIZES". A dtype may follow the sizes:
// "ones:8:int64".
bool input_made_is(const char *text);
// Makes the tensor that a text such as "rand:1x3x8x8" describes. "rand" gives uniform numbers in [0, 1): the same
// numbers in each run, but different numbers for each input. Failures are reported.
bool input_made(const input_source *source, const char *text, taper_value **value);

// Makes a tensor from a number, a bool or nested arrays of them, as torch.tensor() does: the dtype is the one that
// `dtype` names, or int64, float32 or bool if `dtype` is NULL. Failures are reported.
bool input_array(const input_source *source, const json_value *json, const char *dtype, taper_value **value);

#endif
