// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with NEON's dot products, four taps of a channel at a time. The
// instruction multiplies signed numbers, so 128 is subtracted from the inputs. In a 3x3 kernel, two output rows share
// the four input pixels of a column. The upper output row has weight 0 for the fourth pixel, the lower output row has
// weight 0 for the first pixel.
#include <arm_neon.h>

#include "ops/kernels/dwconv_i8.h"

// The weights of column x of the kernel: four taps of four channels. w[x][0..1] are for an output pixel, w[x][2..3] for
// the output pixel below it.
typedef struct nine {
    int8x16_t w[3][4];
} nine;

// Four pixels of a column, for four channels in each of two registers.
typedef struct column {
    int8x16_t x[2];
} column;

#include "ops/kernels/dwconv_i8_neon.h"

TAPER_TEMPLATE int8x16_t signed_of(uint8x16_t x)
{
    return vreinterpretq_s8_u8(veorq_u8(x, vdupq_n_u8(0x80)));
}

// Interleaves the bytes of four taps, for the lower eight channels, to y[0] and y[1].
TAPER_TEMPLATE void lower_zip(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d, int8x16_t y[2])
{
    const uint16x8_t u = vreinterpretq_u16_u8(vzip1q_u8(a, b)), v = vreinterpretq_u16_u8(vzip1q_u8(c, d));
    y[0] = vreinterpretq_s8_u16(vzip1q_u16(u, v));
    y[1] = vreinterpretq_s8_u16(vzip2q_u16(u, v));
}

TAPER_TEMPLATE void upper_zip(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d, int8x16_t y[2])
{
    const uint16x8_t u = vreinterpretq_u16_u8(vzip2q_u8(a, b)), v = vreinterpretq_u16_u8(vzip2q_u8(c, d));
    y[0] = vreinterpretq_s8_u16(vzip1q_u16(u, v));
    y[1] = vreinterpretq_s8_u16(vzip2q_u16(u, v));
}

TAPER_TEMPLATE uint8x16_t eight(const uint8_t *p)
{
    return vcombine_u8(vld1_u8(p), vdup_n_u8(0));
}

TAPER_TEMPLATE nine nine_of(const taper_dwconv_i8 *t, size_t c)
{
    nine k;
    const size_t places = taper_dwconv_i8_piece(16, 8, t->channels - c / 16 * 16);
    const uint8_t *w = (const uint8_t *)t->w + c / 16 * (16 * 12) + c % 16 * 4;
    const uint8x8x4_t first = vld4_u8(w), second = vld4_u8(w + 4 * places), last = vld4_u8(w + 8 * places);
    const uint8x8_t none = vdup_n_u8(0);
    const uint8x8_t taps[9] = {first.val[0],  first.val[1],  first.val[2],  first.val[3], second.val[0],
                               second.val[1], second.val[2], second.val[3], last.val[0]};
    TAPER_UNROLL
    for (size_t x = 0; x < 3; x++) {
        const uint8x16_t y0 = vcombine_u8(taps[x], none), y1 = vcombine_u8(taps[3 + x], none);
        const uint8x16_t y2 = vcombine_u8(taps[6 + x], none), zero = vdupq_n_u8(0);
        lower_zip(y0, y1, y2, zero, k.w[x]);
        lower_zip(zero, y0, y1, y2, k.w[x] + 2);
    }
    return k;
}

TAPER_TEMPLATE column column_at(const uint8_t *const p[4], size_t at)
{
    column y;
    lower_zip(eight(p[0] + at), eight(p[1] + at), eight(p[2] + at), eight(p[3] + at), y.x);
    y.x[0] = signed_of(vreinterpretq_u8_s8(y.x[0]));
    y.x[1] = signed_of(vreinterpretq_u8_s8(y.x[1]));
    return y;
}

TAPER_TEMPLATE void sums_of_two(const nine *k, const column *x, const column *y, const column *z, int32x4_t acc[4])
{
    const column *columns[3] = {x, y, z};
    TAPER_UNROLL
    for (size_t c = 0; c < 3; c++) {
        TAPER_UNROLL
        for (size_t i = 0; i < 4; i++)
            acc[i] = vdotq_s32(acc[i], columns[c]->x[i % 2], k->w[c][i]);
    }
}

TAPER_TEMPLATE void taps_4(const size_t count, const int wide, const uint8_t *const *a, size_t at, const int8_t *w,
                           int32x4_t acc[4])
{
    uint8x16_t x[4];
    int8x16_t y[4];
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *p = a[i < count ? i : 0] + at;
        // The bytes of a tap that does not exist are 0x80, which becomes 0 when 128 is subtracted
        x[i] = i >= count ? vdupq_n_u8(0x80) : wide ? vld1q_u8(p) : eight(p);
    }
    lower_zip(x[0], x[1], x[2], x[3], y);
    if (wide)
        upper_zip(x[0], x[1], x[2], x[3], y + 2);
    const size_t sums = wide ? 4 : 2;
    TAPER_UNROLL
    for (size_t q = 0; q < sums; q++)
        acc[q] = vdotq_s32(acc[q], signed_of(vreinterpretq_u8_s8(y[q])), vld1q_s8(w + 16 * q));
}

TAPER_TEMPLATE void rows_of_nine(const taper_dwconv_i8 *t, i8_range range)
{
    pieces(9, t, range);
}

void taper_dwconv_i8_neondot(const taper_dwconv_i8 *job)
{
    run(job);
}
