// SPDX-License-Identifier: BSD-2-Clause
// The part of input.h that reads tensors: "@file.npy" and {"@tensor": "file.npy", …}.
#ifndef TAPER_TOOLS_INPUT_TENSOR_H
#define TAPER_TOOLS_INPUT_TENSOR_H

#include "common/input.h"

// {"@tensor": FILE} with "scale", "zero_point" and "dtype" for a quantized one, "dtype": "bfloat16" for float32 numbers
// to be narrowed, "memory_format": "channels_last" for a 4-D tensor in that order. {"@tensor": [[1, 2]], "dtype":
// "float32"} is an array.
bool input_tensor_json(const input_source *source, const json_value *json, taper_value **value);

#endif
