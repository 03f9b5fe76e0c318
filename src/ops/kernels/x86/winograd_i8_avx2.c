// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms of quantized numbers with AVX2: products of 4 tiles by 16 columns.
#define I8_BYTES 32
#define I8_VNNI 0
#define MR_MAX 4
#define EACH_MR(X) X(1) X(2) X(3) X(4)
#include "ops/kernels/winograd_i8_x86.h"

TAPER_TEMPLATE void store_pixels(uint8_t *to, size_t pixel, size_t pixels, __m256i y)
{
    y = _mm256_permutevar8x32_epi32(y, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    const __m128i low = _mm256_castsi256_si128(y), high = _mm256_extracti128_si256(y, 1);
    _mm_storel_epi64((__m128i *)(void *)to, low);
    if (pixels > 1)
        _mm_storel_epi64((__m128i *)(void *)(to + pixel), _mm_unpackhi_epi64(low, low));
    if (pixels > 2)
        _mm_storel_epi64((__m128i *)(void *)(to + 2 * pixel), high);
    if (pixels > 3)
        _mm_storel_epi64((__m128i *)(void *)(to + 3 * pixel), _mm_unpackhi_epi64(high, high));
}

WINOGRAD_I8(avx2)
WINOGRAD_I8_PRODUCT(avx2)
