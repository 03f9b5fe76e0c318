// SPDX-License-Identifier: BSD-2-Clause
// The part of input.h that reads tensors: "@file.npy" and {"@tensor": "file.npy", …}.
#ifndef TAPER_TOOLS_INPUT_TENSOR_H
#define TAPER_TOOLS_INPUT_TENSOR_H

#include "common/input.h"

// Reads {"@tensor": FILE}. "scale", "zero_point" and "dtype" make a quantized tensor. "dtype": "bfloat16" narrows
// float32 numbers. "memory_format": "channels_last" stores a 4-D tensor as NHWC. {"@tensor": [[1, 2]], "dtype":
// "float32"} is an array.
bool input_tensor_json(const input_source *source, const json_value *json, taper_value **value);

#endif
