// SPDX-License-Identifier: BSD-2-Clause
// SHA-256 (FIPS 180-4). Cached files are named by the SHA-256 of their contents, because it
// is infeasible to make other contents with the same hash.
#ifndef TAPER_BASE_SHA256_H
#define TAPER_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct taper_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
} taper_sha256;

void taper_sha256_begin(taper_sha256 *hash);
void taper_sha256_add(taper_sha256 *hash, const void *data, size_t size);
void taper_sha256_end(taper_sha256 *hash, uint8_t digest[32]);

#endif
