// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with NEON, products of 16 bits added in 32. Kernels of nine taps keep the
// weights of eight channels in registers for a whole run of pixels; two rows of 3x3 with stride 1 are made together,
// column by column, so that every input is loaded and widened once. Other kernels: 16 channels at a time, the last
// ones 16 or 8.
#include "ops/kernels/dwconv_i8.h"
#include "ops/kernels/simd_i8_neon.h"

// acc gains a tap of eight channels.
TAPER_TEMPLATE void multiply(int32x4_t acc[2], int16x8_t x, int16x8_t w)
{
    acc[0] = vmlal_s16(acc[0], vget_low_s16(x), vget_low_s16(w));
    acc[1] = vmlal_high_s16(acc[1], x, w);
}

TAPER_TEMPLATE int16x8_t widened(const uint8_t *p)
{
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p)));
}

// ---- nine taps, eight channels

// Channels [c, c + 8) of a piece of 16 or 8.
typedef struct nine {
    int16x8_t w[9];
    float32x4_t scale[2];
    i8_range range;
    const int32_t *bias;
} nine;

TAPER_TEMPLATE nine nine_of(const taper_dwconv_i8 *t, size_t c, i8_range range)
{
    nine k = {.range = range, .bias = t->e.bias + c};
    const size_t places = taper_dwconv_i8_piece(16, 8, t->channels - c / 16 * 16);
    const int8_t *w = t->w + c / 16 * (16 * 12) + c % 16 * 4;
    const int8x8x4_t first = vld4_s8(w), second = vld4_s8(w + 4 * places), last = vld4_s8(w + 8 * places);
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++) {
        k.w[i] = vmovl_s8(first.val[i]);
        k.w[4 + i] = vmovl_s8(second.val[i]);
    }
    k.w[8] = vmovl_s8(last.val[0]);
    k.scale[0] = vld1q_f32(t->e.scale + c);
    k.scale[1] = vld1q_f32(t->e.scale + c + 4);
    return k;
}

TAPER_TEMPLATE void store_8(uint8_t *to, uint8x8_t y, size_t n)
{
    if (n >= 8)
        vst1_u8(to, y);
    else
        i8_store_some(to, vcombine_u8(y, y), n);
}

// The pixel, and the one below it, of four rows of three columns x[column][row].
TAPER_TEMPLATE void pixel_of_two(const nine *k, const int16x8_t *x0, const int16x8_t *x1, const int16x8_t *x2,
                                 uint8_t *to, size_t row, size_t n)
{
    const int16x8_t *x[3] = {x0, x1, x2};
    int32x4_t acc[4];
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++)
        acc[i] = vld1q_s32(k->bias + i % 2 * 4);
    TAPER_UNROLL
    for (size_t tap = 0; tap < 9; tap++) {
        multiply(acc, x[tap % 3][tap / 3], k->w[tap]);
        multiply(acc + 2, x[tap % 3][tap / 3 + 1], k->w[tap]);
    }
    const float32x4_t scale[4] = {k->scale[0], k->scale[1], k->scale[0], k->scale[1]};
    const uint8x16_t y = i8_requantize(acc, scale, k->range);
    if (n >= 8) {
        vst1_u8(to, vget_low_u8(y));
        vst1_u8(to + row, vget_high_u8(y));
    } else {
        i8_store_some(to, y, n);
        i8_store_some(to + row, vextq_u8(y, y, 8), n);
    }
}

TAPER_TEMPLATE void column_of_four(const uint8_t *const p[4], size_t at, int16x8_t x[4])
{
    TAPER_UNROLL
    for (size_t y = 0; y < 4; y++)
        x[y] = widened(p[y] + at);
}

TAPER_INSTANCE void two_rows(const taper_dwconv_i8 *t, size_t c, i8_range range)
{
    const nine k = nine_of(t, c, range);
    const size_t n = t->channels - c, step = t->step, stride = t->c_stride, row = t->c_row;
    const uint8_t *const p[4] = {t->a[2] + c, t->a[5] + c, t->a[8] + c, t->a[11] + c};
    int16x8_t x0[4], x1[4], x2[4];
    TAPER_UNROLL
    for (size_t y = 0; y < 4; y++) {
        x0[y] = widened(t->a[3 * y] + c);
        x1[y] = widened(t->a[3 * y + 1] + c);
    }
    uint8_t *to = t->c + c;
    size_t at = 0, i = t->pixels;
    // Three pixels, after which the columns have their places again.
    TAPER_NO_UNROLL
    for (; i >= 3; i -= 3) {
        column_of_four(p, at, x2);
        pixel_of_two(&k, x0, x1, x2, to, row, n);
        column_of_four(p, at + step, x0);
        pixel_of_two(&k, x1, x2, x0, to + stride, row, n);
        column_of_four(p, at + 2 * step, x1);
        pixel_of_two(&k, x2, x0, x1, to + 2 * stride, row, n);
        at += 3 * step;
        to += 3 * stride;
    }
    if (i > 0) {
        column_of_four(p, at, x2);
        pixel_of_two(&k, x0, x1, x2, to, row, n);
    }
    if (i > 1) {
        column_of_four(p, at + step, x0);
        pixel_of_two(&k, x1, x2, x0, to + stride, row, n);
    }
}

TAPER_INSTANCE void one_row(const taper_dwconv_i8 *t, size_t c, i8_range range)
{
    const nine k = nine_of(t, c, range);
    const uint8_t *a[9];
    TAPER_UNROLL
    for (size_t tap = 0; tap < 9; tap++)
        a[tap] = t->a[tap] + c;
    uint8_t *to = t->c + c;
    size_t at = 0;
    TAPER_NO_UNROLL
    for (size_t i = 0; i < t->pixels; i++, at += t->step, to += t->c_stride) {
        int32x4_t acc[2] = {vld1q_s32(k.bias), vld1q_s32(k.bias + 4)};
        TAPER_UNROLL
        for (size_t tap = 0; tap < 9; tap++)
            multiply(acc, widened(a[tap] + at), k.w[tap]);
        store_8(to, i8_requantize_half(acc, k.scale, k.range), t->channels - c);
    }
}

// ---- any taps

// `count` of four taps, wide: of 16 channels, otherwise 8.
TAPER_TEMPLATE void four_taps(const size_t count, const int wide, const uint8_t *const *a, size_t at, const int8_t *w,
                              int32x4_t acc[4])
{
    if (wide) {
        const int8x16x4_t weights = vld4q_s8(w);
        TAPER_UNROLL
        for (size_t k = 0; k < count; k++) {
            const uint8x16_t x = vld1q_u8(a[k] + at);
            multiply(acc, vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x))), vmovl_s8(vget_low_s8(weights.val[k])));
            multiply(acc + 2, vreinterpretq_s16_u16(vmovl_high_u8(x)), vmovl_high_s8(weights.val[k]));
        }
    } else {
        const int8x8x4_t weights = vld4_s8(w);
        TAPER_UNROLL
        for (size_t k = 0; k < count; k++)
            multiply(acc, widened(a[k] + at), vmovl_s8(weights.val[k]));
    }
}

TAPER_TEMPLATE void piece(const int wide, const taper_dwconv_i8 *t, size_t at, size_t c, size_t n, i8_range range,
                          uint8_t *to)
{
    const size_t places = wide ? 16 : 8;
    const int8_t *w = t->w + c * ((t->taps + 3) / 4 * 4);
    const uint8_t *const *a = t->a;
    int32x4_t acc[4];
    float32x4_t scale[4];
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
    TAPER_UNROLL
    for (size_t q = 0; q < places / 4; q++)
        scale[q] = vld1q_f32(t->e.scale + c + 4 * q);
    if (wide)
        i8_store(to + c, i8_requantize(acc, scale, range), n);
    else
        store_8(to + c, i8_requantize_half(acc, scale, range), n);
}

void taper_dwconv_i8_neon(const taper_dwconv_i8 *job)
{
    const i8_range range = i8_range_of(&job->e);
    if (job->taps == 9) {
        for (size_t c = 0; c < job->channels; c += 8) {
            if (job->rows == 2)
                two_rows(job, c, range);
            else
                one_row(job, c, range);
        }
        return;
    }
    uint8_t *to = job->c;
    for (size_t i = 0; i < job->pixels; i++, to += job->c_stride) {
        const size_t at = i * job->step;
        size_t c = 0, n = job->channels;
        for (; n > 8; c += 16, n -= n < 16 ? n : 16)
            piece(1, job, at, c, n < 16 ? n : 16, range, to);
        if (n > 0)
            piece(0, job, at, c, n, range, to);
    }
}
