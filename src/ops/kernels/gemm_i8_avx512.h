// SPDX-License-Identifier: BSD-2-Clause
// The stores that the two AVX-512 entries of the int8 gemm share, with and without VNNI. The including file defines
// MR_MAX, the largest number of rows in a tile. With 32 columns the registers are enough for 14 rows, or for fewer rows
// if the products need registers too.
#include "ops/kernels/simd_i8_x86.h"

// Stores two rows. Each 128 bits of y contain 32 bits of row 0 from the first 16 columns, 32 bits of row 0 from the
// last 16 columns, then the same two parts of row 1.
TAPER_TEMPLATE void store_rows(uint8_t *c0, uint8_t *c1, __m512i y, size_t n)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    y = _mm512_permutexvar_epi32(order, y);
    if (n == 32) {
        _mm256_storeu_si256((__m256i *)(void *)c1, _mm512_extracti64x4_epi64(y, 1));
        _mm256_storeu_si256((__m256i *)(void *)c0, _mm512_castsi512_si256(y));
    } else {
        const __mmask32 mask = (__mmask32)((UINT32_C(1) << n) - 1);
        _mm256_mask_storeu_epi8(c1, mask, _mm512_extracti64x4_epi64(y, 1));
        _mm256_mask_storeu_epi8(c0, mask, _mm512_castsi512_si256(y));
    }
}

TAPER_TEMPLATE void store_floats(float *c, __m512 y, size_t n)
{
    _mm512_mask_storeu_ps(c, (__mmask16)((UINT32_C(1) << n) - 1), y);
}

#include "ops/kernels/gemm_i8_halves_avx512.h"

#include "ops/kernels/gemm_i8_tmpl.h"
