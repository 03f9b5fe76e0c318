// SPDX-License-Identifier: BSD-2-Clause
// Hashes with eight independent lanes of multiplications, so that their latency is hidden and memory limits the speed.
#include "base/hash.h"

#include <string.h>

uint64_t taper_hash(uint64_t start, const void *data, size_t size)
{
    enum { LANES = 8 };
    const char *at = data;
    uint64_t lanes[LANES], words[LANES], h = taper_hash_mix(start, size);
    for (uint64_t i = 0; i < LANES; i++) {
        lanes[i] = h + i;
    }
    for (; size >= sizeof words; at += sizeof words, size -= sizeof words) {
        memcpy(words, at, sizeof words);
        for (size_t i = 0; i < LANES; i++) {
            lanes[i] = taper_hash_mix(lanes[i], words[i]);
        }
    }
    memset(words, 0, sizeof words);
    memcpy(words, at, size);
    for (size_t i = 0; i < LANES; i++) {
        h = taper_hash_mix(taper_hash_mix(h, lanes[i]), words[i]);
    }
    return h;
}

uint64_t taper_hash_keyed(uint64_t seed, const void *data, size_t size)
{
    const char *at = data;
    uint64_t h = taper_hash_spread(seed ^ size), word = 0;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        h = taper_hash_spread(h ^ word);
    }
    if (size != 0) {
        word = 0;
        memcpy(&word, at, size);
        h = taper_hash_spread(h ^ word);
    }
    return h;
}
