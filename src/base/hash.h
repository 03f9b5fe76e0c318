// SPDX-License-Identifier: BSD-2-Clause
// taper_hash reads many bytes as fast as memory delivers them. It distinguishes contents that differ by accident, but
// it does not resist someone who searches for collisions.
// taper_hash_keyed is for tables whose keys come from a file. The seed is an address, which the author of a file does
// not know. Every bit of the seed and of the bytes read so far affects every bit of the hash, so keys that collide
// cannot be prepared. Tables of such keys also charge long probe sequences to the budget.
#ifndef TAPER_BASE_HASH_H
#define TAPER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t taper_hash_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

// Mixes x: every bit of x affects every bit of the result.
static inline uint64_t taper_hash_spread(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static inline uint64_t taper_hash_seed(const void *address)
{
    return (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
}

uint64_t taper_hash_keyed(uint64_t seed, const void *data, size_t size);

// Returns a hash of `size` bytes. Two contents that differ in only one word have different hashes. start: the hash of
// preceding bytes, or any number.
uint64_t taper_hash(uint64_t start, const void *data, size_t size);

#endif
