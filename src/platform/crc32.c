// SPDX-License-Identifier: BSD-2-Clause
// Computes CRC-32 with carry-less multiplication. The bytes are the coefficients of a polynomial over GF(2); the lowest
// bit of the first byte is the highest coefficient. The checksum is the remainder of the polynomial modulo P. A block
// of 16 bytes may be replaced by any polynomial with the same remainder at a later position: multiply each half by x^n
// mod P, where n is the distance in bits. The code moves four blocks over the data in this way, then combines them, and
// zlib computes the checksum of the remaining 16 bytes.
#include "platform/crc32.h"

#include "platform/platform.h"

#if TAPER_WITH_ZLIB
#include <zlib.h>

uint32_t taper_crc32_plain(uint32_t crc, const void *data, size_t size)
{
    enum { AT_ONCE = 1 << 30 };
    const uint8_t *at = data;
    while (size != 0) {
        const size_t part = size < AT_ONCE ? size : AT_ONCE;
        crc = (uint32_t)crc32(crc, at, (uInt)part);
        at += part;
        size -= part;
    }
    return crc;
}
#else
uint32_t taper_crc32_plain(uint32_t crc, const void *data, size_t size)
{
    // Remainders modulo P, the polynomial of CRC-32, of all values of four bits.
    static const uint32_t of[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                    0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                    0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *at = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        crc = of[crc & 15] ^ crc >> 4;
        crc = of[crc & 15] ^ crc >> 4;
    }
    return ~crc;
}
#endif

#if defined(__x86_64__)
#include <immintrin.h>

#define TAPER_PCLMUL __attribute__((target("sse2,pclmul")))

// taper_crc32 asks if the CPU has this multiplication only for WORTH_ASKING bytes or more, because the question takes
// microseconds in a virtual machine.
enum { BLOCKS = 4, STEP = BLOCKS * (int)sizeof(__m128i), WORTH_ASKING = 16 * 1024 };

// Moves `block` by n bits (multiplies it by x^n) and adds it to `next`. by: x^(n + 32) and x^(n - 32) mod P, shifted up
// by one bit, because the product of two reflected numbers is one bit short.
TAPER_PCLMUL static inline __m128i carry(__m128i block, __m128i by, __m128i next)
{
    const __m128i low = _mm_clmulepi64_si128(block, by, 0x00), high = _mm_clmulepi64_si128(block, by, 0x11);
    return _mm_xor_si128(next, _mm_xor_si128(low, high));
}

// Returns the checksum of the first *used bytes; the caller handles the remaining bytes, which are fewer than STEP.
// `size` must be at least STEP.
TAPER_PCLMUL static uint32_t multiplied(uint32_t crc, const uint8_t *data, size_t size, size_t *used)
{
    const __m128i by_step = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);  // moves a block by 512 bits
    const __m128i by_block = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0); // moves a block by 128 bits
    __m128i block[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        block[i] = _mm_loadu_si128((const __m128i *)data + i);
    }
    // The checksum of the previous bytes is added to the first bytes.
    block[0] = _mm_xor_si128(block[0], _mm_cvtsi32_si128((int)~crc));
    size_t at = STEP;
    for (; size - at >= STEP; at += STEP) {
        for (size_t i = 0; i < BLOCKS; i++) {
            block[i] = carry(block[i], by_step, _mm_loadu_si128((const __m128i *)(data + at) + i));
        }
    }
    for (size_t i = 1; i < BLOCKS; i++) {
        block[i] = carry(block[i - 1], by_block, block[i]);
    }
    uint8_t left[sizeof(__m128i)];
    _mm_storeu_si128((__m128i *)left, block[BLOCKS - 1]);
    *used = at;
    // Zlib inverts UINT32_MAX to 0, which means that no bytes precede.
    return taper_crc32_plain(UINT32_MAX, left, sizeof left);
}

uint32_t taper_crc32(uint32_t crc, const void *data, size_t size)
{
    size_t used = 0;
    if (size >= WORTH_ASKING && taper_cpu_has_pclmul()) {
        crc = multiplied(crc, data, size, &used);
    }
    return taper_crc32_plain(crc, (const uint8_t *)data + used, size - used);
}
#else
uint32_t taper_crc32(uint32_t crc, const void *data, size_t size)
{
    return taper_crc32_plain(crc, data, size);
}
#endif
