// SPDX-License-Identifier: BSD-2-Clause
// NumPy's array file: "\x93NUMPY", version, header length, a Python dict literal with descr, fortran_order and shape,
// then the elements.
#ifndef TAPER_TOOLS_NPY_H
#define TAPER_TOOLS_NPY_H

#include <taper/taper.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct npy_array {
    taper_dtype dtype;
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
    bool fortran_order;
    bool swapped;  // bytes of each number are in the other order
    size_t offset; // of the elements in the file
    size_t bytes;  // of the elements
} npy_array;

// Failures are reported with path as the subject.
bool npy_parse(const char *path, const unsigned char *bytes, size_t size, npy_array *array);

// NumPy's name of a dtype in this machine's byte order ("<f4"); bfloat16 is stored as float32, a quantized dtype as its
// integers; NULL when there is none.
const char *npy_descr(taper_dtype dtype);
enum { NPY_HEADER_MAX = 512 };
// Writes the header for elements in C order; its length is returned.
size_t npy_header(char header[NPY_HEADER_MAX], const char *descr, size_t rank, const int64_t *sizes);

#endif
