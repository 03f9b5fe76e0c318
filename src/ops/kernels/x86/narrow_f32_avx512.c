// SPDX-License-Identifier: BSD-2-Clause
// Products with narrow weights in AVX-512.
#include "ops/kernels/simd_avx512.h"

TAPER_TEMPLATE V v_bytes(const int8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
TAPER_TEMPLATE VI v_words(const uint32_t *p)
{
    return _mm512_loadu_si512(p);
}
// Returns nibble i of each word, less 8, as floats. The permutation uses only the lowest four bits of a word, so it
// replaces both the mask and the conversion.
TAPER_TEMPLATE V v_nibble(VI words, int i)
{
    const V numbers = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_ps(i == 0 ? words : _mm512_srli_epi32(words, (unsigned)(4 * i)), numbers);
}

// Reads a single stream of weights. With four streams, the prefetchers of x86 reach half of the bandwidth.
#define HALF_ROWS 1
#include "ops/kernels/narrow_f32_tmpl.h"

NARROW_ENTRY(avx512, 32)
