// SPDX-License-Identifier: BSD-2-Clause
// Reads the elements of a tensor with any strides.
#ifndef TAPER_TOOLS_TENSOR_DATA_H
#define TAPER_TOOLS_TENSOR_DATA_H

#include <taper/taper.h>

#include <stdbool.h>

bool tensor_info(const char *subject, const taper_value *value, taper_error *error, taper_tensor_info *info);
// Computes the number of elements. If they need more than `limit` bytes, or the dtype is smaller than a byte, reports
// an error and returns false.
bool tensor_count(const char *subject, const taper_tensor_info *info, size_t limit, size_t *count);

// Returns the elements in C order, with bfloat16 converted to float32. The caller frees them. Returns NULL after
// reporting a failure.
void *tensor_gather(const char *subject, const taper_tensor_info *info, size_t *bytes);
// Works like tensor_gather, but converts numbers of any real dtype to floats. Quantized numbers are dequantized.
float *tensor_floats(const char *subject, const taper_tensor_info *info, size_t *count);

// Returns one element of any real dtype except bfloat16. A quantized element gives its integer.
double tensor_number(taper_dtype dtype, const void *element);

// Returns the address of element `index`, counted in C order.
const void *tensor_element(const taper_tensor_info *info, size_t index);
float tensor_half(const void *element);     // returns a float16 element
float tensor_bfloat16(const void *element); // returns a bfloat16 element

#endif
