// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with NEON alone: 16-bit products, which are added to 32-bit sums.
#include <arm_neon.h>

#include "ops/kernels/dwconv_i8.h"

typedef struct nine {
    int16x8_t w[9];
} nine;

typedef struct column {
    int16x8_t x[4];
} column;

#include "ops/kernels/dwconv_i8_neon.h"

// Adds the products of one tap of eight channels to acc. The code is assembly, because for the intrinsic gcc copies the
// lower half of an operand to another register.
TAPER_TEMPLATE void multiply(int32x4_t acc[2], int16x8_t x, int16x8_t w)
{
    __asm__("smlal %0.4s, %1.4h, %2.4h" : "+w"(acc[0]) : "w"(x), "w"(w));
    acc[1] = vmlal_high_s16(acc[1], x, w);
}

TAPER_TEMPLATE int16x8_t widened(const uint8_t *p)
{
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p)));
}

TAPER_TEMPLATE nine nine_of(const taper_dwconv_i8 *t, size_t c)
{
    nine k;
    const size_t places = taper_dwconv_i8_piece(16, 8, t->channels - c / 16 * 16);
    const int8_t *w = t->w + c / 16 * (16 * 12) + c % 16 * 4;
    const int8x8x4_t first = vld4_s8(w), second = vld4_s8(w + 4 * places), last = vld4_s8(w + 8 * places);
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++) {
        k.w[i] = vmovl_s8(first.val[i]);
        k.w[4 + i] = vmovl_s8(second.val[i]);
    }
    k.w[8] = vmovl_s8(last.val[0]);
    return k;
}

TAPER_TEMPLATE column column_at(const uint8_t *const p[4], size_t at)
{
    return (column){{widened(p[0] + at), widened(p[1] + at), widened(p[2] + at), widened(p[3] + at)}};
}

TAPER_TEMPLATE void sums_of_two(const nine *k, const column *x, const column *y, const column *z, int32x4_t acc[4])
{
    const column *columns[3] = {x, y, z};
    TAPER_UNROLL
    for (size_t tap = 0; tap < 9; tap++) {
        multiply(acc, columns[tap % 3]->x[tap / 3], k->w[tap]);
        multiply(acc + 2, columns[tap % 3]->x[tap / 3 + 1], k->w[tap]);
    }
}

TAPER_TEMPLATE void taps_4(const size_t count, const int wide, const uint8_t *const *a, size_t at, const int8_t *w,
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

// Computes eight channels of all pixels, with the weights in registers.
TAPER_INSTANCE void row_of_nine(const taper_dwconv_i8 *t, size_t c, i8_range range)
{
    const nine k = nine_of(t, c);
    const float32x4_t scale[2] = {vld1q_f32(t->e.scale + c), vld1q_f32(t->e.scale + c + 4)};
    const int32x4_t bias[2] = {vld1q_s32(t->e.bias + c), vld1q_s32(t->e.bias + c + 4)};
    const size_t pixels = t->pixels, step = t->step, stride = t->c_stride, n = t->channels - c;
    const uint8_t *a[9];
    TAPER_UNROLL
    for (size_t tap = 0; tap < 9; tap++)
        a[tap] = t->a[tap] + c;
    uint8_t *to = t->c + c;
    size_t at = 0;
    TAPER_NO_UNROLL
    for (size_t i = 0; i < pixels; i++, at += step, to += stride) {
        int32x4_t acc[2] = {bias[0], bias[1]};
        TAPER_UNROLL
        for (size_t tap = 0; tap < 9; tap++)
            multiply(acc, widened(a[tap] + at), k.w[tap]);
        store_8(to, i8_requantize_half(acc, scale, range), n);
    }
}

TAPER_TEMPLATE void rows_of_nine(const taper_dwconv_i8 *t, i8_range range)
{
    for (size_t c = 0; c < t->channels; c += 8)
        row_of_nine(t, c, range);
}

void taper_dwconv_i8_neon(const taper_dwconv_i8 *job)
{
    run(job);
}
