// SPDX-License-Identifier: BSD-2-Clause
// Reads the elements of a tensor, whatever its strides.
#ifndef TAPER_TOOLS_TENSOR_DATA_H
#define TAPER_TOOLS_TENSOR_DATA_H

#include <taper/taper.h>

#include <stdbool.h>

bool tensor_info(const char *subject, const taper_value *value, taper_error *error, taper_tensor_info *info);
// Number of elements; reported and false when they would not fit `limit` bytes or have a dtype below a byte.
bool tensor_count(const char *subject, const taper_tensor_info *info, size_t limit, size_t *count);

// The elements in C order, in memory that the caller frees; NULL after a report. bfloat16 is widened to float32.
void *tensor_gather(const char *subject, const taper_tensor_info *info, size_t *bytes);
// The same as floats: numbers of any real dtype, quantized ones as the numbers they stand for.
float *tensor_floats(const char *subject, const taper_tensor_info *info, size_t *count);

// One element of a real dtype (the integer of a quantized one), not bfloat16.
double tensor_number(taper_dtype dtype, const void *element);

// Where element `index` (counted in C order) lies, from info->data.
const void *tensor_element(const taper_tensor_info *info, size_t index);
float tensor_half(const void *element);     // float16
float tensor_bfloat16(const void *element); // bfloat16

#endif
