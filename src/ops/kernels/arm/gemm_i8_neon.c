// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON alone: up to 8 rows by 8 columns in 16 accumulators. Everything is widened to 16
// bits, whose products by lane are added in 32 bits; eight k at a time.
#include "ops/kernels/simd_i8_neon.h"

#define MR_MAX 8
#define NR 8
#define KR 4
#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

// Four k of mr rows: x[i] has them in its lanes from `first` on. Weights: per k a vector of eight columns.
#define STEP(lane, k)                                                                                                  \
    {                                                                                                                  \
        const int16x8_t b = vmovl_s8(weights.val[k]);                                                                  \
        TAPER_UNROLL                                                                                                   \
        for (size_t i = 0; i < mr; i++) {                                                                              \
            acc[i][0] = vmlal_laneq_s16(acc[i][0], vget_low_s16(b), x[i], lane);                                       \
            acc[i][1] = vmlal_high_laneq_s16(acc[i][1], b, x[i], lane);                                                \
        }                                                                                                              \
    }

TAPER_TEMPLATE void tile(const size_t mr, const taper_gemm_i8 *t, const int8_t *w, size_t column, size_t n)
{
    int32x4_t acc[MR_MAX][2];
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        acc[i][0] = vld1q_s32(t->e.bias + column);
        acc[i][1] = vld1q_s32(t->e.bias + column + 4);
    }
    const size_t groups = (t->kc + KR - 1) / KR;
    const uint8_t *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        const uint8_t *p[MR_MAX];
        int16x8_t x[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            p[i] = a[i] + t->a_offset;
        size_t g = groups;
        TAPER_NO_UNROLL
        for (; g >= 2; g -= 2) {
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                x[i] = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p[i])));
                p[i] += 8;
            }
            __builtin_prefetch(w + 512);
            int8x8x4_t weights = vld4_s8(w);
            STEP(0, 0)
            STEP(1, 1)
            STEP(2, 2)
            STEP(3, 3)
            weights = vld4_s8(w + 32);
            STEP(4, 0)
            STEP(5, 1)
            STEP(6, 2)
            STEP(7, 3)
            w += 64;
        }
        if (g > 0) {
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                uint32_t four;
                memcpy(&four, p[i], sizeof four);
                x[i] = vreinterpretq_s16_u16(vmovl_u8(vcreate_u8(four)));
            }
            const int8x8x4_t weights = vld4_s8(w);
            STEP(0, 0)
            STEP(1, 1)
            STEP(2, 2)
            STEP(3, 3)
            w += 32;
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        i8_finish_row(t, i, column, n, NR, acc[i]);
}

GEMM_I8(8x8_neon)
