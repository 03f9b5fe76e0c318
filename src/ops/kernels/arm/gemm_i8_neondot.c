// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON's dot products by lane: up to 6 rows by 16 columns in 24 accumulators. The
// instruction multiplies signed numbers, so 128 is taken from A by turning its highest bit.
#include <arm_neon.h>

#include "ops/kernels/gemm_i8.h"

#define MR_MAX 6
#define NR 16
#define KR 4
#define ACC 4
#define A_GROUP 24 // four k of rows 0 to 3, then of rows 4 and 5
#define COLUMNS_16
#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6)

TAPER_TEMPLATE int32x4_t turned(const uint8_t *p)
{
    return vreinterpretq_s32_u8(veorq_u8(vld1q_u8(p), vdupq_n_u8(0x80)));
}

TAPER_TEMPLATE void gather_16(int8_t *to, size_t rows, const uint8_t *const *p, size_t k)
{
    const int32x4_t x0 = turned(p[0] + k), x1 = turned(p[1] + k), x2 = turned(p[2] + k), x3 = turned(p[3] + k);
    const int32x4_t u = vzip1q_s32(x0, x1), v = vzip2q_s32(x0, x1), x = vzip1q_s32(x2, x3), y = vzip2q_s32(x2, x3);
    int64_t *at = (int64_t *)(void *)to;
    const int64x2_t four[4] = {vreinterpretq_s64_s32(u), vreinterpretq_s64_s32(x), vreinterpretq_s64_s32(v),
                               vreinterpretq_s64_s32(y)};
    vst1q_s64(at, vzip1q_s64(four[0], four[1]));
    vst1q_s64(at + 3, vzip2q_s64(four[0], four[1]));
    vst1q_s64(at + 6, vzip1q_s64(four[2], four[3]));
    vst1q_s64(at + 9, vzip2q_s64(four[2], four[3]));
    if (rows > 4) {
        const int32x4_t x4 = turned(p[4] + k), x5 = turned(p[5] + k);
        const int64x2_t a = vreinterpretq_s64_s32(vzip1q_s32(x4, x5)), b = vreinterpretq_s64_s32(vzip2q_s32(x4, x5));
        vst1q_lane_s64(at + 2, a, 0);
        vst1q_lane_s64(at + 5, a, 1);
        vst1q_lane_s64(at + 8, b, 0);
        vst1q_lane_s64(at + 11, b, 1);
    }
}

#define ROW(i, x, lane)                                                                                                \
    if (mr > (i)) {                                                                                                    \
        TAPER_UNROLL                                                                                                   \
        for (size_t j = 0; j < nv; j++)                                                                                \
            acc[i][j] = vdotq_laneq_s32(acc[i][j], b[j], x, lane);                                                     \
    }

TAPER_TEMPLATE void step(const size_t mr, const size_t nv, const int8_t *a, const int8_t *w, int32x4_t acc[][ACC])
{
    int8x16_t b[4];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        b[j] = vld1q_s8(w + 16 * j);
    const int8x16_t x = vld1q_s8(a);
    ROW(0, x, 0)
    ROW(1, x, 1)
    ROW(2, x, 2)
    ROW(3, x, 3)
    if (mr > 4) {
        const int8x8_t half = vld1_s8(a + 16);
        const int8x16_t y = vcombine_s8(half, half);
        ROW(4, y, 0)
        ROW(5, y, 1)
    }
}

TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            int32x4_t acc[][ACC])
{
    (void)half;
    TAPER_NO_UNROLL
    for (; groups >= 4; groups -= 4, a += 4 * A_GROUP, w += 4 * KR * NR) {
        __builtin_prefetch(w + 512);
        TAPER_UNROLL
        for (size_t g = 0; g < 4; g++)
            step(mr, nv, a + A_GROUP * g, w + KR * NR * g, acc);
    }
    TAPER_NO_UNROLL
    for (; groups > 0; groups--, a += A_GROUP, w += KR * NR)
        step(mr, nv, a, w, acc);
}

#include "ops/kernels/gemm_i8_neon.h"

TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const taper_gemm_i8 *t, const walk *from, const int8_t *w,
                         size_t column, size_t n)
{
    int32x4_t acc[MR_MAX][ACC];
    float32x4_t scale[ACC];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        acc[0][j] = vld1q_s32(t->e.bias + column + 4 * j);
        TAPER_UNROLL
        for (size_t i = 1; i < mr; i++)
            acc[i][j] = acc[0][j];
    }
    products(mr, nv, t, from, w, acc);
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        scale[j] = vld1q_f32(t->e.scale + column + 4 * j);
    const i8_range range = i8_range_of(&t->e);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        finish_16(t, i, column, n, nv, acc[i], scale, range);
}

GEMM_I8(6x16_neondot)
