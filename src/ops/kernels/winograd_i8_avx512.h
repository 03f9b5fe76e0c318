// SPDX-License-Identifier: BSD-2-Clause
// Parts that the two AVX-512 files of winograd_i8.h share, with and without VNNI: products of 14 tiles by 32 columns,
// and the stores.
#define I8_BYTES 64
#define MR_MAX 14
#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#include "ops/kernels/winograd_i8_x86.h"

TAPER_TEMPLATE void store_pixels(uint8_t *to, size_t pixel, size_t pixels, __m512i y)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    y = _mm512_permutexvar_epi32(order, y);
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_castsi512_si128(y));
    if (pixels > 1)
        _mm_storeu_si128((__m128i *)(void *)(to + pixel), _mm512_extracti32x4_epi32(y, 1));
    if (pixels > 2)
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * pixel), _mm512_extracti32x4_epi32(y, 2));
    if (pixels > 3)
        _mm_storeu_si128((__m128i *)(void *)(to + 3 * pixel), _mm512_extracti32x4_epi32(y, 3));
}
