// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON's matrix products, of 2 rows by 2 columns by 8 k: up to 4 rows by 16 columns in
// 16 accumulators, 16 k at a time. A is unsigned, weights are signed, as the instruction has them.
#include "ops/kernels/simd_i8_neon.h"

#define MR_MAX 4
#define NR 16
#define KR 8
#define EACH_MR(X) X(1) X(2) X(3) X(4)

// Eight k: x[i] has those of rows 2 i and 2 i + 1. Per two columns 16 weights.
#define STEP(x, w)                                                                                                     \
    {                                                                                                                  \
        TAPER_UNROLL                                                                                                   \
        for (size_t j = 0; j < 8; j++) {                                                                               \
            const int8x16_t b = vld1q_s8((w) + 16 * j);                                                                \
            TAPER_UNROLL                                                                                               \
            for (size_t i = 0; i < pairs; i++)                                                                         \
                acc[i][j] = vusmmlaq_s32(acc[i][j], (x)[i], b);                                                        \
        }                                                                                                              \
    }

TAPER_TEMPLATE uint8x16_t join(uint64x2_t even, uint64x2_t odd, const int second)
{
    return vreinterpretq_u8_u64(second ? vzip2q_u64(even, odd) : vzip1q_u64(even, odd));
}

TAPER_TEMPLATE void tile(const size_t mr, const taper_gemm_i8 *t, const int8_t *w, size_t column, size_t n)
{
    const size_t pairs = (mr + 1) / 2;
    int32x4_t acc[MR_MAX / 2][8]; // {row 0 column 0, row 0 column 1, row 1 column 0, row 1 column 1}
    TAPER_UNROLL
    for (size_t j = 0; j < 8; j++) {
        TAPER_UNROLL
        for (size_t i = 0; i < pairs; i++)
            acc[i][j] = vdupq_n_s32(0);
    }
    const size_t groups = (t->kc + KR - 1) / KR;
    const uint8_t *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        const uint8_t *p[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < 2 * pairs; i++)
            p[i] = a[i < mr ? i : mr - 1] + t->a_offset;
        size_t g = groups;
        TAPER_NO_UNROLL
        for (; g >= 2; g -= 2) {
            uint8x16_t x[MR_MAX / 2], y[MR_MAX / 2];
            TAPER_UNROLL
            for (size_t i = 0; i < pairs; i++) {
                const uint64x2_t even = vreinterpretq_u64_u8(vld1q_u8(p[2 * i]));
                const uint64x2_t odd = vreinterpretq_u64_u8(vld1q_u8(p[2 * i + 1]));
                x[i] = join(even, odd, 0);
                y[i] = join(even, odd, 1);
                p[2 * i] += 16;
                p[2 * i + 1] += 16;
            }
            __builtin_prefetch(w + 512);
            STEP(x, w)
            STEP(y, w + 128)
            w += 256;
        }
        if (g > 0) {
            uint8x16_t x[MR_MAX / 2];
            TAPER_UNROLL
            for (size_t i = 0; i < pairs; i++)
                x[i] = vcombine_u8(vld1_u8(p[2 * i]), vld1_u8(p[2 * i + 1]));
            STEP(x, w)
            w += 128;
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        int32x4_t row[4];
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++) {
            const int64x2_t u = vreinterpretq_s64_s32(acc[i / 2][2 * j]),
                            v = vreinterpretq_s64_s32(acc[i / 2][2 * j + 1]);
            row[j] = vaddq_s32(vreinterpretq_s32_s64(i % 2 == 0 ? vzip1q_s64(u, v) : vzip2q_s64(u, v)),
                               vld1q_s32(t->e.bias + column + 4 * j));
        }
        i8_finish_row(t, i, column, n, NR, row);
    }
}

GEMM_I8(4x16_neoni8mm)
