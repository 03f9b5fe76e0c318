// SPDX-License-Identifier: BSD-2-Clause
// Writes NumPy's archives of arrays: a zip file with one stored .npy file for each array.
#ifndef TAPER_TOOLS_NPZ_H
#define TAPER_TOOLS_NPZ_H

#include "common/files.h"

#include <taper/taper.h>

#include <stdint.h>

typedef struct npz_writer {
    output_file output;
    unsigned char *directory; // central directory of the archive so far
    size_t directory_size, directory_capacity;
    uint64_t position;
    size_t count;
} npz_writer;

bool npz_open(npz_writer *npz, const char *path);
// Appends an array. `data` contains the elements in C order.
bool npz_add(npz_writer *npz, const char *name, size_t name_length, const char *descr, size_t rank,
             const int64_t *sizes, const void *data, size_t bytes);
bool npz_commit(npz_writer *npz);
void npz_discard(npz_writer *npz); // removes the output file; has no effect after npz_commit

#endif
