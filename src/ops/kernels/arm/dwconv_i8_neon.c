// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with NEON: 16 channels at a time, the last ones 16 or 8. Products of 16
// bits, added in 32.
#include "ops/kernels/dwconv_i8.h"
#include "ops/kernels/simd_i8_neon.h"

// acc gains a tap of eight channels.
TAPER_TEMPLATE void tap(int32x4_t acc[2], uint8x8_t a, int8x8_t w)
{
    const int16x8_t x = vreinterpretq_s16_u16(vmovl_u8(a)), y = vmovl_s8(w);
    acc[0] = vmlal_s16(acc[0], vget_low_s16(x), vget_low_s16(y));
    acc[1] = vmlal_high_s16(acc[1], x, y);
}

// `count` of four taps, wide: of 16 channels, otherwise 8.
TAPER_TEMPLATE void four_taps(const size_t count, const int wide, const uint8_t *const *a, size_t at, const int8_t *w,
                              int32x4_t acc[4])
{
    if (wide) {
        const int8x16x4_t weights = vld4q_s8(w);
        TAPER_UNROLL
        for (size_t k = 0; k < count; k++) {
            const uint8x16_t x = vld1q_u8(a[k] + at);
            tap(acc, vget_low_u8(x), vget_low_s8(weights.val[k]));
            tap(acc + 2, vget_high_u8(x), vget_high_s8(weights.val[k]));
        }
    } else {
        const int8x8x4_t weights = vld4_s8(w);
        TAPER_UNROLL
        for (size_t k = 0; k < count; k++)
            tap(acc, vld1_u8(a[k] + at), weights.val[k]);
    }
}

TAPER_TEMPLATE void piece(const int wide, const taper_dwconv_i8 *t, size_t at, size_t c, size_t n, uint8_t *to)
{
    const size_t places = wide ? 16 : 8;
    const int8_t *w = t->w + c * ((t->taps + 3) / 4 * 4);
    const uint8_t *const *a = t->a;
    int32x4_t acc[4];
    TAPER_UNROLL
    for (size_t q = 0; q < places / 4; q++)
        acc[q] = vld1q_s32(t->e.bias + c + 4 * q);
    size_t k = t->taps;
    TAPER_NO_UNROLL
    for (; k >= 4; k -= 4, a += 4, w += 4 * places)
        four_taps(4, wide, a, at + c, w, acc);
    if (k == 1) {
        four_taps(1, wide, a, at + c, w, acc);
    } else if (k == 2) {
        four_taps(2, wide, a, at + c, w, acc);
    } else if (k == 3) {
        four_taps(3, wide, a, at + c, w, acc);
    }
    const i8_range range = i8_range_of(&t->e);
    float32x4_t scale[4];
    TAPER_UNROLL
    for (size_t q = 0; q < places / 4; q++)
        scale[q] = vld1q_f32(t->e.scale + c + 4 * q);
    uint8_t bytes[16];
    uint8_t *direct = n == places ? to + c : bytes;
    if (wide)
        vst1q_u8(direct, i8_requantize(acc, scale, range));
    else
        vst1_u8(direct, i8_requantize_half(acc, scale, range));
    if (direct == bytes)
        memcpy(to + c, bytes, n);
}

void taper_dwconv_i8_neon(const taper_dwconv_i8 *job)
{
    uint8_t *to = job->c;
    for (size_t i = 0; i < job->pixels; i++, to += job->c_stride) {
        const size_t at = i * job->step;
        size_t c = 0, n = job->channels;
        for (; n > 8; c += 16, n -= n < 16 ? n : 16)
            piece(1, job, at, c, n < 16 ? n : 16, to);
        if (n > 0)
            piece(0, job, at, c, n, to);
    }
}
