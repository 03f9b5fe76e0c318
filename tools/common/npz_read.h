// SPDX-License-Identifier: BSD-2-Clause
// Reads arrays of NumPy's archives, as numpy.savez, numpy.savez_compressed and npz.h write them.
#ifndef TAPER_TOOLS_NPZ_READ_H
#define TAPER_TOOLS_NPZ_READ_H

#include <stdbool.h>
#include <stddef.h>

typedef struct npz_archive {
    const char *path; // of reports
    const unsigned char *bytes;
    size_t size;
    size_t directory, count; // of what it holds
} npz_archive;

// The bytes stay the caller's and must live as long. Failures are reported.
bool npz_read(npz_archive *npz, const char *path, const unsigned char *bytes, size_t size);
// Whether there is an array of that name.
bool npz_has(const npz_archive *npz, const char *key);
// The name of the array that is meant when none is named: the only one, or the only one beside the scale and the zero
// point that a quantized one has. False when there are several; *known lists them then.
bool npz_only(const npz_archive *npz, char key[512], char known[256]);
// The .npy file of an array; the caller frees it. Failures are reported, also when there is no such array.
bool npz_take(const npz_archive *npz, const char *key, unsigned char **npy, size_t *size);

#endif
