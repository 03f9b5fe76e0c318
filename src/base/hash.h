// SPDX-License-Identifier: BSD-2-Clause
// A hash of many bytes, as fast as memory is read: tells contents apart that differ by accident, not by intent.
#ifndef TAPER_BASE_HASH_H
#define TAPER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t taper_hash_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

// Of the size bytes, different for contents that differ in one word. start: of what was before, or anything.
uint64_t taper_hash(uint64_t start, const void *data, size_t size);

#endif
