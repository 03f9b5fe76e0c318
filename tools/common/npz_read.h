// SPDX-License-Identifier: BSD-2-Clause
// Reads NumPy's archives of arrays, written by numpy.savez, numpy.savez_compressed or npz.h.
#ifndef TAPER_TOOLS_NPZ_READ_H
#define TAPER_TOOLS_NPZ_READ_H

#include <stdbool.h>
#include <stddef.h>

typedef struct npz_archive {
    const char *path; // path for error messages
    const unsigned char *bytes;
    size_t size;
    size_t directory, count; // offset of the central directory, and number of its entries
} npz_archive;

// Opens an archive. The bytes belong to the caller and must outlive `npz`. Failures are reported.
bool npz_read(npz_archive *npz, const char *path, const unsigned char *bytes, size_t size);
// Returns true if the archive has an array with this name.
bool npz_has(const npz_archive *npz, const char *key);
// If the archive has a single array, writes its name to key and returns true. The scale and zero point of a quantized
// array are not counted. If there are several arrays, lists them in `known` and returns false.
bool npz_only(const npz_archive *npz, char key[512], char known[256]);
// Finds an array and returns it as a .npy file, which the caller frees. Failures are reported; a missing array is a
// failure.
bool npz_take(const npz_archive *npz, const char *key, unsigned char **npy, size_t *size);

#endif
