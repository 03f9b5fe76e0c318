// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes the header of NumPy's array files: "\x93NUMPY", version, length of the header, a Python dict literal
// with descr, fortran_order and shape. The elements follow.
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
    bool swapped;  // true if the bytes of each number must be swapped
    size_t offset; // offset of the elements in the file
    size_t bytes;  // size of the elements in bytes
} npy_array;

// Parses the header. Failures are reported with path as the subject.
bool npy_parse(const char *path, const unsigned char *bytes, size_t size, npy_array *array);

// Returns NumPy's name of a dtype in the byte order of this machine, for example "<f4", or NULL if NumPy has no such
// dtype. bfloat16 is stored as float32, and a quantized dtype as its integers.
const char *npy_descr(taper_dtype dtype);
enum { NPY_HEADER_MAX = 512 };
// Writes the header for elements in C order and returns its length.
size_t npy_header(char header[NPY_HEADER_MAX], const char *descr, size_t rank, const int64_t *sizes);

#endif
