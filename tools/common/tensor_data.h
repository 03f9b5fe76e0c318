// SPDX-License-Identifier: BSD-2-Clause
// Reads the elements of a tensor with any strides.
#ifndef TAPER_TOOLS_TENSOR_DATA_H
#define TAPER_TOOLS_TENSOR_DATA_H

#include <taper/taper.h>

#include <stdbool.h>

bool tensor_info(const char *subject, const taper_value *value, taper_error *error, taper_tensor_info *info);
// Computes the number of elements. Returns false after it has reported that they need more than `limit` bytes or that
// the dtype is smaller than a byte.
bool tensor_count(const char *subject, const taper_tensor_info *info, size_t limit, size_t *count);

// Returns the elements in C order, bfloat16 widened to float32. The caller frees them. Returns NULL after it has
// reported a failure.
void *tensor_gather(const char *subject, const taper_tensor_info *info, size_t *bytes);
// Works like tensor_gather, but converts numbers of any real dtype to floats. Quantized numbers are dequantized.
float *tensor_floats(const char *subject, const taper_tensor_info *info, size_t *count);

// Returns one element of a real dtype except bfloat16, or the integer of a quantized element.
double tensor_number(taper_dtype dtype, const void *element);

// Returns the address of element `index`, counted in C order.
const void *tensor_element(const taper_tensor_info *info, size_t index);
float tensor_half(const void *element);     // float16
float tensor_bfloat16(const void *element); // bfloat16

#endif
