// SPDX-License-Identifier: BSD-2-Clause
// Requantization and stores of the NEON kernels for quantized numbers.
#ifndef TAPER_KERNELS_SIMD_I8_NEON_H
#define TAPER_KERNELS_SIMD_I8_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "ops/kernels/gemm_i8.h"

typedef struct i8_range {
    int16x8_t zero_point;
    uint8x16_t low;
} i8_range;

TAPER_TEMPLATE i8_range i8_range_of(const taper_i8_epilogue *e)
{
    return (i8_range){vdupq_n_s16((int16_t)e->zero_point), vdupq_n_u8((uint8_t)e->min)};
}

// Computes rne(sum * scale) (gemm_i8.h) plus the zero point for eight sums. Every step saturates.
TAPER_TEMPLATE int16x8_t i8_words(int32x4_t a, int32x4_t b, float32x4_t scale_a, float32x4_t scale_b, i8_range range)
{
    const int32x4_t x = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(a), scale_a));
    const int32x4_t y = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(b), scale_b));
    return vqaddq_s16(vqmovn_high_s32(vqmovn_s32(x), y), range.zero_point);
}

TAPER_TEMPLATE uint8x16_t i8_bytes(int16x8_t a, int16x8_t b, i8_range range)
{
    return vmaxq_u8(vqmovun_high_s16(vqmovun_s16(a), b), range.low);
}

TAPER_TEMPLATE uint8x16_t i8_requantize(const int32x4_t *sums, const float32x4_t *scale, i8_range range)
{
    return i8_bytes(i8_words(sums[0], sums[1], scale[0], scale[1], range),
                    i8_words(sums[2], sums[3], scale[2], scale[3], range), range);
}

TAPER_TEMPLATE uint8x8_t i8_requantize_half(const int32x4_t *sums, const float32x4_t *scale, i8_range range)
{
    const int16x8_t words = i8_words(sums[0], sums[1], scale[0], scale[1], range);
    return vmax_u8(vqmovun_s16(words), vget_low_u8(range.low));
}

// Stores the first n bytes of y; n is less than 16.
TAPER_TEMPLATE void i8_store_some(uint8_t *to, uint8x16_t y, size_t n)
{
    if (n & 8) {
        vst1_u8(to, vget_low_u8(y));
        y = vextq_u8(y, y, 8);
        to += 8;
    }
    if (n & 4) {
        const uint32_t four = vgetq_lane_u32(vreinterpretq_u32_u8(y), 0);
        memcpy(to, &four, sizeof four);
        y = vextq_u8(y, y, 4);
        to += 4;
    }
    if (n & 2) {
        const uint16_t two = vgetq_lane_u16(vreinterpretq_u16_u8(y), 0);
        memcpy(to, &two, sizeof two);
        y = vextq_u8(y, y, 2);
        to += 2;
    }
    if (n & 1)
        *to = vgetq_lane_u8(y, 0);
}

TAPER_TEMPLATE void i8_store(uint8_t *to, uint8x16_t y, size_t n)
{
    if (n == 16)
        vst1q_u8(to, y);
    else
        i8_store_some(to, y, n);
}

#endif
