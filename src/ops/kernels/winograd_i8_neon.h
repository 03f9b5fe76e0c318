// SPDX-License-Identifier: BSD-2-Clause
// winograd_i8.h for NEON with 64 and with 32 bits. The including file, which has included its simd_i8 header before,
// defines MR_MAX, NR, EACH_MR, pixels_of and product_of_all.
#include <arm_neon.h>
#include <string.h>

#include "ops/kernels/winograd_i8.h"

#define W int16x8_t
#define W_LANES 8
#define N int32x4_t
#define N_LANES 4
#define LIMITS i8_range

TAPER_TEMPLATE W w_widen(const uint8_t *p)
{
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p)));
}

TAPER_TEMPLATE W w_widen_signed(const int8_t *p)
{
    return vmovl_s8(vld1_s8(p));
}

#define w_store(p, x) vst1q_s16(p, x)
#define w_set(x) vdupq_n_s16(x)
#define w_add(a, b) vaddq_s16(a, b)
#define w_sub(a, b) vsubq_s16(a, b)
#define w_shl(a, by) vshlq_n_s16(a, by)
#define n_load(p) vld1q_s32(p)
#define n_set(x) vdupq_n_s32(x)
#define n_add(a, b) vaddq_s32(a, b)
#define n_sub(a, b) vsubq_s32(a, b)
#define n_shl(a, by) vshlq_n_s32(a, by)
#define n_sra(a, by) vshrq_n_s32(a, by)
#define n_mul(a, b) vmulq_s32(a, b)
#define limits_of(e) i8_range_of(e)

// Returns the bytes of four channels for each of four pixels.
TAPER_TEMPLATE uint32x4_t pixels_of(const N *sums, float32x4_t scale, LIMITS limits);

TAPER_TEMPLATE void store_row(uint8_t *to, size_t pixel, size_t pixels, const N *sums, const float *scales,
                              LIMITS limits)
{
    const uint32x4_t y = pixels_of(sums, vld1q_f32(scales), limits);
    const uint32_t four[] = {vgetq_lane_u32(y, 0), vgetq_lane_u32(y, 1), vgetq_lane_u32(y, 2), vgetq_lane_u32(y, 3)};
    memcpy(to, &four[0], sizeof four[0]);
    if (pixels > 1)
        memcpy(to + pixel, &four[1], sizeof four[1]);
    if (pixels > 2)
        memcpy(to + 2 * pixel, &four[2], sizeof four[2]);
    if (pixels > 3)
        memcpy(to + 3 * pixel, &four[3], sizeof four[3]);
}

#include "ops/kernels/winograd_i8_tmpl.h"

// ---- products: a weight of each column times a lane of a row's inputs

enum { STEP = 8, STEP_NUMBERS = STEP * NR }; // STEP: inputs of a step; STEP_NUMBERS: number of their weights in a panel

// Computes the sums of MR_MAX rows over `steps` steps; steps is at least one. Each step prefetches the next `asked`
// bytes.
TAPER_TEMPLATE void product_of_all(const int16_t *const *a, const int16_t *w, size_t steps, const char *next,
                                   size_t asked, int32x4_t acc[][NR / 4]);

// Adds one input of mr rows, with the next weights of all columns.
TAPER_TEMPLATE void add_input(const size_t mr, const size_t lane, const int16x8_t *x, const int16_t *w,
                              int32x4_t acc[][NR / 4])
{
    TAPER_UNROLL
    for (size_t j = 0; j < NR / 4; j++) {
        const int16x4_t b = vld1_s16(w + 4 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const int16x4_t half = lane < 4 ? vget_low_s16(x[i]) : vget_high_s16(x[i]);
            acc[i][j] = lane % 4 == 0   ? vmlal_lane_s16(acc[i][j], b, half, 0)
                        : lane % 4 == 1 ? vmlal_lane_s16(acc[i][j], b, half, 1)
                        : lane % 4 == 2 ? vmlal_lane_s16(acc[i][j], b, half, 2)
                                        : vmlal_lane_s16(acc[i][j], b, half, 3);
        }
    }
}

TAPER_TEMPLATE void product_of_some(const size_t mr, const int16_t *const *a, const int16_t *w, size_t steps,
                                    const char *next, size_t asked, int32x4_t acc[][NR / 4])
{
    int16x8_t x[MR_MAX];
    TAPER_UNROLL
    for (size_t i = 0; i < mr * (NR / 4); i++)
        acc[i / (NR / 4)][i % (NR / 4)] = vdupq_n_s32(0);
    TAPER_NO_UNROLL
    for (size_t at = 0; at < steps * STEP; at += STEP, w += STEP_NUMBERS, next += asked) {
        __builtin_prefetch(next);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            x[i] = vld1q_s16(a[i] + at);
        TAPER_UNROLL
        for (size_t lane = 0; lane < STEP; lane++)
            add_input(mr, lane, x, w + lane * NR, acc);
    }
}

TAPER_TEMPLATE void product_tile(const size_t mr, const taper_winograd_i8_product *t, const int16_t *w, int32_t *c,
                                 const char *next, size_t asked)
{
    int32x4_t acc[MR_MAX][NR / 4];
    const int16_t *a[MR_MAX];
    const size_t steps = t->depth / STEP;
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        a[i] = t->a + i * t->depth;
    if (mr == MR_MAX)
        product_of_all(a, w, steps, next, STEP / 2 * asked, acc);
    else
        product_of_some(mr, a, w, steps, next, STEP / 2 * asked, acc);
    w += steps * STEP_NUMBERS;
    TAPER_NO_UNROLL
    for (size_t at = steps * STEP; at < t->depth; at += 2, w += 2 * NR) {
        int16x8_t x[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            int32_t pair;
            memcpy(&pair, a[i] + at, sizeof pair);
            x[i] = vreinterpretq_s16_s32(vdupq_n_s32(pair));
        }
        add_input(mr, 0, x, w, acc);
        add_input(mr, 1, x, w + NR, acc);
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < NR / 4; j++)
            vst1q_s32(c + i * t->c_stride + 4 * j, acc[i][j]);
    }
}
