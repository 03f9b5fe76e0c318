// SPDX-License-Identifier: BSD-2-Clause
// Serializes values to bytes, to test whether two values are bit-identical.
#ifndef TAPER_TESTS_VALUE_BYTES_H
#define TAPER_TESTS_VALUE_BYTES_H

#include <taper/taper.h>

// A growing array of bytes. Initialize it with zeros; the caller frees data.
typedef struct value_bytes {
    unsigned char *data;
    size_t size, capacity;
} value_bytes;

// These functions append bytes, and a value. Both end the program if memory runs out.
void value_bytes_put(value_bytes *b, const void *data, size_t size);
// Appends kind, sizes, strides, quantizer and elements in the order of the indices, or the items of a container.
void value_bytes_add(value_bytes *b, const taper_value *value);

#endif
