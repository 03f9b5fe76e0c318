// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON alone: up to 4 rows by 4 columns in 16 accumulators, each of four sums along k.
// 128 is taken from A, then two products of 8 bits make a sum of 16, and pairs of those are added in 32 bits. Only when
// two weights of -128 meet two -128 of A the sum of 16 bits has no room: panels with such weights are marked, and have
// each product added by itself.
#include <arm_neon.h>

#include "ops/kernels/gemm_i8.h"

// gcc would begin all products of a step first and have no registers left for their sums.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-schedule-insns")
#endif

#define MR_MAX 4
#define NR 4
#define KR 16
#define ACC 4
#define A_GROUP 64 // sixteen k of each row
#define EACH_MR(X) X(1) X(2) X(3) X(4)

TAPER_TEMPLATE void gather_16(int8_t *to, size_t rows, const uint8_t *const *p, size_t k)
{
    TAPER_UNROLL
    for (size_t i = 0; i < MR_MAX; i++) {
        if (rows > i)
            vst1q_u8((uint8_t *)to + 16 * i, veorq_u8(vld1q_u8(p[i] + k), vdupq_n_u8(0x80)));
    }
}

// The first eight of sixteen k.
TAPER_TEMPLATE void half_step(const size_t mr, const int8_t *a, const int8_t *w, int32x4_t acc[][ACC])
{
    int8x8_t b[4];
    TAPER_UNROLL
    for (size_t j = 0; j < 4; j++)
        b[j] = vld1_s8(w + 16 * j);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        const int8x8_t x = vld1_s8(a + 16 * i);
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            acc[i][j] = vpadalq_s16(acc[i][j], vmull_s8(x, b[j]));
    }
}

TAPER_TEMPLATE void step(const size_t mr, const int apart, const int8_t *a, const int8_t *w, int32x4_t acc[][ACC])
{
    int8x16_t b[4], x[MR_MAX];
    TAPER_UNROLL
    for (size_t j = 0; j < 4; j++)
        b[j] = vld1q_s8(w + 16 * j);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        x[i] = vld1q_s8(a + 16 * i);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        int16x8_t sum[4];
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            sum[j] = vmull_s8(vget_low_s8(x[i]), vget_low_s8(b[j]));
        TAPER_UNROLL
        for (size_t j = 0; j < 4 && apart; j++) {
            acc[i][j] = vpadalq_s16(acc[i][j], sum[j]);
            sum[j] = vdupq_n_s16(0);
        }
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            sum[j] = vmlal_high_s8(sum[j], x[i], b[j]);
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            acc[i][j] = vpadalq_s16(acc[i][j], sum[j]);
    }
}

TAPER_TEMPLATE void product(const size_t mr, const size_t apart, size_t groups, int half, const int8_t *a,
                            const int8_t *w, int32x4_t acc[][ACC])
{
    groups -= (size_t)half;
    TAPER_NO_UNROLL
    for (; groups > 0; groups--, a += A_GROUP, w += KR * NR)
        step(mr, apart != 0, a, w, acc);
    if (half)
        half_step(mr, a, w, acc);
}

#include "ops/kernels/gemm_i8_neon.h"

TAPER_TEMPLATE int32x4_t row_of(const int32x4_t acc[ACC], int32x4_t bias)
{
    return vaddq_s32(bias, vpaddq_s32(vpaddq_s32(acc[0], acc[1]), vpaddq_s32(acc[2], acc[3])));
}

TAPER_TEMPLATE void one_tile(const size_t mr, const size_t apart, const taper_gemm_i8 *t, const walk *from,
                             const int8_t *w, size_t column, size_t n)
{
    int32x4_t acc[MR_MAX][ACC], rows[MR_MAX];
    TAPER_UNROLL
    for (size_t j = 0; j < ACC; j++) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = vdupq_n_s32(0);
    }
    products(mr, apart, t, from, w, acc);
    const int32x4_t bias = vld1q_s32(t->e.bias + column);
    TAPER_UNROLL
    for (size_t i = 0; i < MR_MAX; i++)
        rows[i] = i < mr ? row_of(acc[i], bias) : rows[0];
    if (t->e.shift != NULL) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            int32_t row[4];
            vst1q_s32(row, rows[i]);
            i8_floats(t, i, column, n, row);
        }
        return;
    }
    const float32x4_t one = vld1q_f32(t->e.scale + column), scale[] = {one, one, one, one};
    const uint8x16_t y = i8_requantize(rows, scale, i8_range_of(&t->e));
    uint8_t *c = (uint8_t *)t->c + column;
    if (n == 4) {
        const uint32x4_t bytes = vreinterpretq_u32_u8(y);
        const size_t stride = t->c_stride;
        vst1q_lane_u32((uint32_t *)(void *)c, bytes, 0);
        if (mr > 1)
            vst1q_lane_u32((uint32_t *)(void *)(c + stride), bytes, 1);
        if (mr > 2)
            vst1q_lane_u32((uint32_t *)(void *)(c + 2 * stride), bytes, 2);
        if (mr > 3)
            vst1q_lane_u32((uint32_t *)(void *)(c + 3 * stride), bytes, 3);
    } else {
        uint8_t bytes[16];
        vst1q_u8(bytes, y);
        for (size_t i = 0; i < mr; i++) {
            for (size_t j = 0; j < n; j++)
                c[i * t->c_stride + j] = bytes[4 * i + j];
        }
    }
}

TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const taper_gemm_i8 *t, const walk *from, const int8_t *w,
                         size_t column, size_t n)
{
    (void)nv;
    if (w[from->groups * (KR * NR)])
        one_tile(mr, 1, t, from, w, column, n);
    else
        one_tile(mr, 0, t, from, w, column, n);
}

GEMM_I8(4x4_neon)
