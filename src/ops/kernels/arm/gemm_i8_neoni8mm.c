// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON's matrix products, of 2 rows by 2 columns by 8 k: up to 6 rows by 16 columns in
// 24 accumulators. A is unsigned, weights are signed, as the instruction has them.
#include <arm_neon.h>

#include "ops/kernels/gemm_i8.h"

#define MR_MAX 6
#define NR 16
#define KR 8
#define ACC 8
#define A_GROUP 48 // eight k of rows 0 and 1, 2 and 3, 4 and 5
#define COLUMNS_16
#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6)

TAPER_TEMPLATE void gather_16(int8_t *to, size_t rows, const uint8_t *const *p, size_t k)
{
    uint8_t *at = (uint8_t *)to;
    TAPER_UNROLL
    for (size_t i = 0; i < MR_MAX / 2; i++) {
        if (rows > 2 * i) {
            const uint64x2_t even = vreinterpretq_u64_u8(vld1q_u8(p[2 * i] + k));
            const uint64x2_t odd = vreinterpretq_u64_u8(vld1q_u8(p[2 * i + 1] + k));
            vst1q_u8(at + 16 * i, vreinterpretq_u8_u64(vzip1q_u64(even, odd)));
            vst1q_u8(at + A_GROUP + 16 * i, vreinterpretq_u8_u64(vzip2q_u64(even, odd)));
        }
    }
}

// acc[i][j]: {row 2 i column 2 j, row 2 i column 2 j + 1, row 2 i + 1 column 2 j, row 2 i + 1 column 2 j + 1}
TAPER_TEMPLATE void step(const size_t mr, const size_t nv, const int8_t *a, const int8_t *w, int32x4_t acc[][ACC])
{
    uint8x16_t x[MR_MAX / 2];
    TAPER_UNROLL
    for (size_t i = 0; i < (mr + 1) / 2; i++)
        x[i] = vld1q_u8((const uint8_t *)a + 16 * i);
    TAPER_UNROLL
    for (size_t j = 0; j < 2 * nv; j++) {
        const int8x16_t b = vld1q_s8(w + 16 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < (mr + 1) / 2; i++)
            acc[i][j] = vusmmlaq_s32(acc[i][j], x[i], b);
    }
}

TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            int32x4_t acc[][ACC])
{
    (void)half;
    TAPER_NO_UNROLL
    for (; groups >= 2; groups -= 2, a += 2 * A_GROUP, w += 2 * KR * NR) {
        __builtin_prefetch(w + 512);
        step(mr, nv, a, w, acc);
        step(mr, nv, a + A_GROUP, w + KR * NR, acc);
    }
    if (groups > 0)
        step(mr, nv, a, w, acc);
}

#include "ops/kernels/gemm_i8_neon.h"

TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const taper_gemm_i8 *t, const walk *from, const int8_t *w,
                         size_t column, size_t n)
{
    int32x4_t acc[MR_MAX / 2][ACC];
    float32x4_t scale[4];
    TAPER_UNROLL
    for (size_t j = 0; j < 2 * nv; j++) {
        const int32x2_t bias = vld1_s32(t->e.bias + column + 2 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < (mr + 1) / 2; i++)
            acc[i][j] = vcombine_s32(bias, bias);
    }
    products(mr, nv, t, from, w, acc);
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        scale[j] = vld1q_f32(t->e.scale + column + 4 * j);
    const i8_range range = i8_range_of(&t->e);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        int32x4_t row[4];
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const int64x2_t u = vreinterpretq_s64_s32(acc[i / 2][2 * j]),
                            v = vreinterpretq_s64_s32(acc[i / 2][2 * j + 1]);
            row[j] = vreinterpretq_s32_s64(i % 2 == 0 ? vzip1q_s64(u, v) : vzip2q_s64(u, v));
        }
        finish_16(t, i, column, n, nv, row, scale, range);
    }
}

GEMM_I8(6x16_neoni8mm)
