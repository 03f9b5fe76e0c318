// SPDX-License-Identifier: BSD-2-Clause
// Products with narrow weights in AVX2.
#include "ops/kernels/simd_avx2.h"

TAPER_TEMPLATE V v_bytes(const int8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}
TAPER_TEMPLATE VI v_words(const uint32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
// Returns nibble i of each word, less 8, as floats. Or-ing n into the bits of the float 2^23 gives the float 2^23 + n,
// so a subtraction replaces a conversion. A conversion would use the same execution port as the multiplications.
TAPER_TEMPLATE V v_nibble(VI words, int i)
{
    const __m256i low = _mm256_and_si256(i == 0 ? words : _mm256_srli_epi32(words, 4 * i), _mm256_set1_epi32(15));
    return _mm256_sub_ps(v_of_bits(_mm256_or_si256(low, _mm256_set1_epi32(0x4B000000))), v_set(0x1p23f + 8));
}

// Reads a single stream of weights. With four streams, the prefetchers of x86 reach half of the bandwidth.
#define HALF_ROWS 1
#include "ops/kernels/narrow_f32_tmpl.h"

NARROW_ENTRY(avx2, 16)
