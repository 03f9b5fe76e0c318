// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON's dot products: up to 4 rows by 16 columns in 16 accumulators, 16 k at a time.
// The instruction multiplies signed numbers, so 128 is taken from A by turning its highest bit.
#include "ops/kernels/simd_i8_neon.h"

#define MR_MAX 4
#define NR 16
#define KR 4
#define EACH_MR(X) X(1) X(2) X(3) X(4)

// Four k: one lane of each row.
#define STEP(lane)                                                                                                     \
    {                                                                                                                  \
        TAPER_UNROLL                                                                                                   \
        for (size_t j = 0; j < 4; j++) {                                                                               \
            const int8x16_t b = vld1q_s8(w + 64 * (lane) + 16 * j);                                                    \
            TAPER_UNROLL                                                                                               \
            for (size_t i = 0; i < mr; i++)                                                                            \
                acc[i][j] = vdotq_laneq_s32(acc[i][j], b, x[i], lane);                                                 \
        }                                                                                                              \
    }

TAPER_TEMPLATE void tile(const size_t mr, const taper_gemm_i8 *t, const int8_t *w, size_t column, size_t n)
{
    int32x4_t acc[MR_MAX][4];
    TAPER_UNROLL
    for (size_t j = 0; j < 4; j++) {
        const int32x4_t bias = vld1q_s32(t->e.bias + column + 4 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = bias;
    }
    const uint8x16_t turn = vdupq_n_u8(0x80);
    const size_t groups = (t->kc + KR - 1) / KR;
    const uint8_t *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        const uint8_t *p[MR_MAX];
        int8x16_t x[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            p[i] = a[i] + t->a_offset;
        size_t g = groups;
        TAPER_NO_UNROLL
        for (; g >= 4; g -= 4) {
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                x[i] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(p[i]), turn));
                p[i] += 16;
            }
            __builtin_prefetch(w + 512);
            STEP(0)
            STEP(1)
            STEP(2)
            STEP(3)
            w += 256;
        }
        TAPER_NO_UNROLL
        for (; g > 0; g--) {
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                uint32_t four;
                memcpy(&four, p[i], sizeof four);
                p[i] += 4;
                x[i] = vreinterpretq_s8_u8(veorq_u8(vreinterpretq_u8_u32(vdupq_n_u32(four)), turn));
            }
            STEP(0)
            w += 64;
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        i8_finish_row(t, i, column, n, NR, acc[i]);
}

GEMM_I8(4x16_neondot)
