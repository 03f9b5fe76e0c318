// SPDX-License-Identifier: BSD-2-Clause
// winograd_i8.h for x86, written with the macros of simd_i8_x86.h. Only store_row differs between register widths. The
// including file defines MR_MAX and EACH_MR.
#include "ops/kernels/simd_i8_x86.h"
#include "ops/kernels/winograd_i8.h"

#define W Q
#define W_LANES (I8_BYTES / 2)
#define N Q
#define N_LANES LANES
#define NR (2 * LANES)
#define LIMITS I8(range)

TAPER_TEMPLATE W w_widen(const uint8_t *p)
{
#if I8_BYTES == 64
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
#else
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
#endif
}

TAPER_TEMPLATE W w_widen_signed(const int8_t *p)
{
#if I8_BYTES == 64
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
#else
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
#endif
}

TAPER_TEMPLATE void w_store(int16_t *p, W x)
{
    B(storeu)((Q *)(void *)p, x);
}

#define w_set(x) P(set1_epi16)(x)
#define w_add(a, b) P(add_epi16)(a, b)
#define w_sub(a, b) P(sub_epi16)(a, b)
#define w_shl(a, by) P(slli_epi16)(a, by)
#define n_load(p) I8(load)(p)
#define n_set(x) P(set1_epi32)(x)
#define n_add(a, b) P(add_epi32)(a, b)
#define n_sub(a, b) P(sub_epi32)(a, b)
#define n_shl(a, by) P(slli_epi32)(a, by)
#define n_sra(a, by) P(srai_epi32)(a, by)
#define n_mul(a, b) P(mullo_epi32)(a, b)

TAPER_TEMPLATE LIMITS limits_of(const taper_i8_epilogue *e)
{
    return I8(range_of)(e->zero_point, e->min);
}

// Stores pixels. Each 128 bits of y contain four channels of each of four pixels.
TAPER_TEMPLATE void store_pixels(uint8_t *to, size_t pixel, size_t pixels, Q y);

TAPER_TEMPLATE void store_row(uint8_t *to, size_t pixel, size_t pixels, const N *sums, const float *scales,
                              LIMITS limits)
{
    const F scale = P(loadu_ps)(scales);
    Q r[4];
    TAPER_UNROLL
    for (size_t j = 0; j < 4; j++)
        r[j] = I8(scaled)((S)sums[j], scale);
    store_pixels(to, pixel, pixels, I8(narrow)(r[0], r[1], r[2], r[3], limits));
}

#include "ops/kernels/winograd_i8_tmpl.h"

TAPER_TEMPLATE S dot_words(S sum, Q a, Q w)
{
#if I8_VNNI
    return (S)P(dpwssd_epi32)((Q)sum, a, w);
#else
    return (S)P(add_epi32)((Q)sum, P(madd_epi16)(a, w));
#endif
}

#include "ops/kernels/winograd_i8_pairs_tmpl.h"
