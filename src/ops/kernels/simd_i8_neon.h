// SPDX-License-Identifier: BSD-2-Clause
// What the NEON kernels of quantized numbers share: what is done with eight sums of a row.
#ifndef TAPER_KERNELS_SIMD_I8_NEON_H
#define TAPER_KERNELS_SIMD_I8_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "ops/kernels/gemm_i8.h"

// rne(sum * scale) + zero point of eight sums; everything saturates.
TAPER_TEMPLATE uint8x8_t i8_requantize(int32x4_t a, int32x4_t b, const float *scale, int16x8_t zero_point,
                                       uint8x8_t low, uint8x8_t high)
{
    const int32x4_t x = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(a), vld1q_f32(scale)));
    const int32x4_t y = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(b), vld1q_f32(scale + 4)));
    const int16x8_t words = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(x), y), zero_point);
    return vmin_u8(vmax_u8(vqmovun_s16(words), low), high);
}

// The first n of eight columns from `column` on, of row i of the result.
TAPER_TEMPLATE void i8_finish(const taper_gemm_i8 *t, size_t i, size_t column, size_t n, int32x4_t a, int32x4_t b)
{
    const float *scale = t->e.scale + column;
    const size_t at = i * t->c_stride + column;
    if (t->e.shift != NULL) {
        const float32x4_t floor = vdupq_n_f32(t->e.floor);
        float y[8];
        vst1q_f32(y, vmaxq_f32(floor, vaddq_f32(vmulq_f32(vcvtq_f32_s32(a), vld1q_f32(scale)),
                                                vld1q_f32(t->e.shift + column))));
        vst1q_f32(y + 4, vmaxq_f32(floor, vaddq_f32(vmulq_f32(vcvtq_f32_s32(b), vld1q_f32(scale + 4)),
                                                    vld1q_f32(t->e.shift + column + 4))));
        memcpy((float *)t->c + at, y, n * sizeof *y);
        return;
    }
    const uint8x8_t y = i8_requantize(a, b, scale, vdupq_n_s16((int16_t)t->e.zero_point), vdup_n_u8((uint8_t)t->e.min),
                                      vdup_n_u8((uint8_t)t->e.max));
    uint8_t *c = (uint8_t *)t->c + at;
    if (n == 8) {
        vst1_u8(c, y);
    } else {
        uint8_t bytes[8];
        vst1_u8(bytes, y);
        memcpy(c, bytes, n);
    }
}

// The same for a row of NR / 8 pairs of sums.
TAPER_TEMPLATE void i8_finish_row(const taper_gemm_i8 *t, size_t i, size_t column, size_t n, const size_t nr,
                                  const int32x4_t *sums)
{
    TAPER_UNROLL
    for (size_t j = 0; j < nr / 8; j++) {
        if (n > 8 * j)
            i8_finish(t, i, column + 8 * j, n - 8 * j < 8 ? n - 8 * j : 8, sums[2 * j], sums[2 * j + 1]);
    }
}

// The kernel of a file that defines tile(mr, job, w, column, n), MR_MAX, NR, KR and EACH_MR(X): all panels of a strip.
#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void strip_##mr(const taper_gemm_i8 *t)                                                             \
    {                                                                                                                  \
        const size_t panel = t->ks * ((t->kc + KR - 1) / KR) * (KR * NR);                                              \
        const int8_t *w = t->w;                                                                                        \
        for (size_t column = 0; column < t->nc; column += NR, w += panel)                                              \
            tile(mr, t, w, column, t->nc - column < NR ? t->nc - column : NR);                                         \
    }
#define STRIP_NAME(mr) strip_##mr,
#define GEMM_I8(name)                                                                                                  \
    EACH_MR(STRIP)                                                                                                     \
    static void (*const strips[MR_MAX])(const taper_gemm_i8 *t) = {EACH_MR(STRIP_NAME)};                               \
    void taper_gemm_i8_##name(const taper_gemm_i8 *job)                                                                \
    {                                                                                                                  \
        strips[job->mr - 1](job);                                                                                      \
    }

#endif
