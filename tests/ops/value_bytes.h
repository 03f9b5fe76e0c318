// SPDX-License-Identifier: BSD-2-Clause
// Values as bytes, to see whether two are the same to the bit.
#ifndef TAPER_TESTS_VALUE_BYTES_H
#define TAPER_TESTS_VALUE_BYTES_H

#include <taper/taper.h>

// Zero at first; the caller frees data.
typedef struct value_bytes {
    unsigned char *data;
    size_t size, capacity;
} value_bytes;

// Both end the program where there is no memory.
void value_bytes_put(value_bytes *b, const void *data, size_t size);
// Kind, sizes, strides, quantizer and elements, in the order of the indices; items of containers.
void value_bytes_add(value_bytes *b, const taper_value *value);

#endif
