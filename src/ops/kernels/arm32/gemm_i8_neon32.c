// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON of 32-bit ARM: up to 2 rows by 4 columns in 8 accumulators, each with four sums
// along k. 128 is subtracted from A, two products of 8 bits are added in 16 bits, and pairs of these sums in 32 bits,
// as in gemm_i8_neon.c. This takes three instructions for 16 products. Two products always fit, except if two weights
// of -128 are multiplied by two elements of A that are -128. Such panels are rare, and each of their products is added
// separately.
#include "ops/kernels/simd_i8_neon32.h"

#define MR_MAX 2
#define NR 4
#define KR 16

// ---- groups of 16 k of two rows: q0 and q1 are of A, q2 to q5 the columns' weights, q6 and q7 sums of 16 bits.

// clang-format off
#define TEXT(...) __VA_ARGS__ "\n\t"
#define COLUMN(j, lo, hi) \
    TEXT("vmull.s8 q6, d0, " #lo) TEXT("vmull.s8 q7, d2, " #lo) \
    TEXT("vmlal.s8 q6, d1, " #hi) TEXT("vmlal.s8 q7, d3, " #hi) \
    TEXT("vpadal.s16 %q[c0" #j "], q6") TEXT("vpadal.s16 %q[c1" #j "], q7")
#define SUMS(r) [c##r##0] "+w"(acc[r][0]), [c##r##1] "+w"(acc[r][1]), [c##r##2] "+w"(acc[r][2]), \
                [c##r##3] "+w"(acc[r][3])

TAPER_TEMPLATE void products_2(size_t groups, const uint8_t *const *a, const int8_t *w, int32x4_t acc[MR_MAX][NR])
{
    const uint8_t *p0 = a[0], *p1 = a[1];
    __asm__ volatile(
        "1:\n\t"
        TEXT("vld1.8 {d0-d1}, [%[p0]]!")
        TEXT("vld1.8 {d2-d3}, [%[p1]]!")
        TEXT("vldmia %[w]!, {d4-d11}")
        TEXT("vmov.i8 q6, #0x80")
        TEXT("pld [%[w], #512]")
        TEXT("veor q0, q0, q6")
        TEXT("veor q1, q1, q6")
        TEXT("subs %[groups], %[groups], #1")
        COLUMN(0, d4, d5) COLUMN(1, d6, d7) COLUMN(2, d8, d9) COLUMN(3, d10, d11)
        "bne 1b\n"
        : SUMS(0), SUMS(1), [p0] "+r"(p0), [p1] "+r"(p1), [w] "+r"(w), [groups] "+r"(groups)
        :
        : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}
// clang-format on

// Computes products for one row, or for panels in which two products may not fit into 16 bits.
TAPER_TEMPLATE void products(const size_t mr, const int apart, size_t groups, const uint8_t *const *a, const int8_t *w,
                             int32x4_t acc[MR_MAX][NR])
{
    if (mr == 2 && !apart && groups != 0) {
        products_2(groups, a, w, acc);
        return;
    }
    for (size_t g = 0; g < groups; g++, w += KR * NR) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const int8x16_t x = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(a[i] + KR * g), vdupq_n_u8(0x80)));
            TAPER_UNROLL
            for (size_t j = 0; j < NR; j++) {
                const int8x16_t b = vld1q_s8(w + KR * j);
                int16x8_t y = vmull_s8(vget_low_s8(x), vget_low_s8(b));
                if (apart) {
                    acc[i][j] = vpadalq_s16(acc[i][j], y);
                    y = vmull_s8(vget_high_s8(x), vget_high_s8(b));
                } else {
                    y = vmlal_s8(y, vget_high_s8(x), vget_high_s8(b));
                }
                acc[i][j] = vpadalq_s16(acc[i][j], y);
            }
        }
    }
}

TAPER_TEMPLATE int32x2_t half_sum(int32x4_t x)
{
    return vadd_s32(vget_low_s32(x), vget_high_s32(x));
}

TAPER_TEMPLATE int32x4_t row_of(const int32x4_t sum[NR])
{
    return vcombine_s32(vpadd_s32(half_sum(sum[0]), half_sum(sum[1])), vpadd_s32(half_sum(sum[2]), half_sum(sum[3])));
}

// Stores float results of n columns of a row.
TAPER_INSTANCE void store_floats(const taper_gemm_i8 *t, size_t row, size_t column, size_t n, int32x4_t sums)
{
    float y[NR], *to = (float *)t->c + row * t->c_stride + column;
    vst1q_f32(
        y, vaddq_f32(vmulq_f32(vcvtq_f32_s32(sums), vld1q_f32(t->e.scale + column)), vld1q_f32(t->e.shift + column)));
    for (size_t j = 0; j < n; j++)
        to[j] = y[j] < t->e.floor ? t->e.floor : y[j];
}

// Stores n columns of a row; n is less than the columns of a panel.
TAPER_INSTANCE void store_some(uint8_t *to, uint32_t four, size_t n)
{
    for (size_t j = 0; j < n; j++, four >>= 8)
        to[j] = (uint8_t)four;
}

// Computes a tile's sums without the bias. w is the tile's panel of weights.
TAPER_TEMPLATE void sums_of(const size_t mr, const taper_gemm_i8 *t, size_t tap_groups, const int8_t *w, int apart,
                            int32x4_t sums[MR_MAX])
{
    int32x4_t acc[MR_MAX][NR];
    TAPER_UNROLL
    for (size_t i = 0; i < NR * mr; i++)
        acc[i / NR][i % NR] = vdupq_n_s32(0);
    const uint8_t *const *a = t->a;
    for (size_t taps = t->ks; taps > 0; taps--, a += t->a_tap_stride, w += tap_groups * (KR * NR)) {
        const uint8_t *p[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            p[i] = a[i] + t->a_offset;
        if (__builtin_expect(apart, 0)) {
            products(mr, 1, tap_groups, p, w, acc);
        } else {
            products(mr, 0, tap_groups, p, w, acc);
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        sums[i] = row_of(acc[i]);
}

TAPER_TEMPLATE void strip(const size_t mr, const taper_gemm_i8 *t)
{
    const size_t tap_groups = (t->kc + KR - 1) / KR, weights = t->ks * tap_groups * (KR * NR),
                 panel = weights + taper_gemm_i8_marks(TAPER_I8_OF_SIXTEENS, t->ks * tap_groups);
    const i8_range range = i8_range_of(&t->e);
    const int32_t *bias = t->e.bias;
    const float *scale = t->e.scale;
    const int floats = t->e.shift != NULL;
    uint8_t *c0 = t->c, *c1 = c0 + t->c_stride;
    const int8_t *w = t->w;
    for (size_t left = t->nc, n; left > 0; left -= n, w += panel) {
        int32x4_t sums[MR_MAX];
        n = left < NR ? left : NR;
        sums_of(mr, t, tap_groups, w, ((uint8_t)w[weights] & TAPER_I8_ONE) != 0, sums);
        const int32x4_t start = vld1q_s32(bias);
        bias += NR;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            sums[i] = vaddq_s32(sums[i], start);
        if (__builtin_expect(floats, 0)) {
            for (size_t i = 0; i < mr; i++)
                store_floats(t, i, t->nc - left, n, sums[i]);
            continue;
        }
        const float32x4_t by = vld1q_f32(scale);
        scale += NR;
        const uint32x2_t y = vreinterpret_u32_u8(i8_requantize(sums[0], sums[mr - 1], by, by, range));
        if (__builtin_expect(n < NR, 0)) {
            store_some(c0, vget_lane_u32(y, 0), n);
            if (mr > 1)
                store_some(c1, vget_lane_u32(y, 1), n);
            return;
        }
        const uint32_t four[2] = {vget_lane_u32(y, 0), vget_lane_u32(y, 1)};
        memcpy(c0, &four[0], NR);
        c0 += NR;
        if (mr > 1)
            memcpy(c1, &four[1], NR);
        c1 += NR;
    }
}

TAPER_INSTANCE void strip_1(const taper_gemm_i8 *t)
{
    strip(1, t);
}

TAPER_INSTANCE void strip_2(const taper_gemm_i8 *t)
{
    strip(2, t);
}

void taper_gemm_i8_2x4_neon32(const taper_gemm_i8 *job)
{
    (job->mr == 1 ? strip_1 : strip_2)(job);
}
