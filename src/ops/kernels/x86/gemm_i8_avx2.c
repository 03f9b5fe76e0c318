// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with AVX2: 4 rows by 16 columns in 8 accumulators.
#include <string.h>

#define I8_BYTES 32
#define I8_VNNI 0
#include "ops/kernels/simd_i8_x86.h"

#define MR_MAX 4
#define EACH_MR(X) X(1) X(2) TAPER_ODD_MR(X(3)) X(4)

// Stores two rows. Each 128 bits of y contain 32 bits of row 0 from the first 8 columns, 32 bits of row 0 from the last
// 8 columns, then the same two parts of row 1.
TAPER_TEMPLATE void store_rows(uint8_t *c0, uint8_t *c1, __m256i y, size_t n)
{
    y = _mm256_permutevar8x32_epi32(y, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    if (n == 16) {
        _mm_storeu_si128((__m128i *)(void *)c1, _mm256_extracti128_si256(y, 1));
        _mm_storeu_si128((__m128i *)(void *)c0, _mm256_castsi256_si128(y));
    } else {
        uint8_t rows[32];
        _mm256_storeu_si256((__m256i *)(void *)rows, y);
        memcpy(c1, rows + 16, n);
        memcpy(c0, rows, n);
    }
}

TAPER_TEMPLATE void store_floats(float *c, __m256 y, size_t n)
{
    if (n == 8) {
        _mm256_storeu_ps(c, y);
    } else {
        float row[8];
        _mm256_storeu_ps(row, y);
        memcpy(c, row, n * sizeof *row);
    }
}

#include "ops/kernels/x86/gemm_i8_pairs_avx2.h"

#include "ops/kernels/gemm_i8_tmpl.h"

GEMM_I8(4x16_avx2)
GEMM_I8_WINDOWS(4x16_avx2)
