// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_u8.h with AVX2.
#include <immintrin.h>

#include "ops/kernels/arch.h"

#define I8_VNNI 0
#define I8_BYTES 32

// Stores the lowest byte of each 32 bits.
TAPER_TEMPLATE void store_low_bytes(uint8_t *y, __m256i x)
{
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64((__m128i *)(void *)y, _mm_packus_epi16(words, words));
}

TAPER_TEMPLATE __m256i load_bytes(const uint8_t *x)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}

#include "ops/kernels/vector_u8_x86.h"

VECTOR_U8_ENTRY(avx2, NULL, interleave)
