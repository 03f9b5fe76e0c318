// SPDX-License-Identifier: BSD-2-Clause
// Requantization and stores of the kernels for quantized numbers with NEON of 32-bit ARM.
#ifndef TAPER_KERNELS_SIMD_I8_NEON32_H
#define TAPER_KERNELS_SIMD_I8_NEON32_H

#include <arm_neon.h>
#include <string.h>

#include "ops/kernels/gemm_i8.h"

typedef struct i8_range {
    int16x8_t zero_point;
    uint8x8_t low;
} i8_range;

TAPER_TEMPLATE i8_range i8_range_of(const taper_i8_epilogue *e)
{
    return (i8_range){vdupq_n_s16((int16_t)e->zero_point), vdup_n_u8((uint8_t)e->min)};
}

// Computes rne(sum * scale) (gemm_i8.h), saturated to 16 bits. There is no rounding instruction; adding 1.5 * 2^23
// rounds, because the last place of that number is 1.
TAPER_TEMPLATE int16x4_t i8_rounded(int32x4_t sum, float32x4_t scale)
{
    const float32x4_t most = vdupq_n_f32(65536.0f), magic = vdupq_n_f32(12582912.0f);
    const float32x4_t x = vmulq_f32(vcvtq_f32_s32(sum), scale);
    const float32x4_t y = vaddq_f32(vminq_f32(vmaxq_f32(x, vnegq_f32(most)), most), magic);
    return vqmovn_s32(vsubq_s32(vreinterpretq_s32_f32(y), vreinterpretq_s32_f32(magic)));
}

// Requantizes eight sums to bytes.
TAPER_TEMPLATE uint8x8_t i8_requantize(int32x4_t a, int32x4_t b, float32x4_t scale_a, float32x4_t scale_b, i8_range r)
{
    const int16x8_t words = vcombine_s16(i8_rounded(a, scale_a), i8_rounded(b, scale_b));
    return vmax_u8(vqmovun_s16(vqaddq_s16(words, r.zero_point)), r.low);
}

// Stores the first n bytes of y.
TAPER_TEMPLATE void i8_store(uint8_t *to, uint8x8_t y, size_t n)
{
    if (n >= 8) {
        vst1_u8(to, y);
    } else {
        uint8_t bytes[8];
        vst1_u8(bytes, y);
        for (size_t i = 0; i < n; i++)
            to[i] = bytes[i];
    }
}

#endif
