// SPDX-License-Identifier: BSD-2-Clause
// The body of the NEON kernels for quantized depthwise convolution. Two rows of 3x3 with stride 1 are computed
// together, column by column, so each input is loaded and rearranged once. The weights of eight channels stay in
// registers for a whole run of pixels. Kernels of other sizes compute 16 channels at a time, and 8 if at most 8 are
// left. The including file defines
//   nine, nine_of       the weights of nine taps of channels [c, c + 8)
//   column, column_at   eight channels of four pixels in a column
//   sums_of_two         sums of a pixel and of the one below it, from three columns
//   taps_4              sums of `count` taps, at most four, for 16 channels if `wide` is set, otherwise for 8
//   rows_of_nine        nine taps for one row
#include "ops/kernels/simd_i8_neon.h"

TAPER_TEMPLATE nine nine_of(const taper_dwconv_i8 *t, size_t c);
TAPER_TEMPLATE column column_at(const uint8_t *const p[4], size_t at);
TAPER_TEMPLATE void sums_of_two(const nine *k, const column *x, const column *y, const column *z, int32x4_t acc[4]);
TAPER_TEMPLATE void taps_4(const size_t count, const int wide, const uint8_t *const *a, size_t at, const int8_t *w,
                           int32x4_t acc[4]);
TAPER_TEMPLATE void rows_of_nine(const taper_dwconv_i8 *t, i8_range range);

TAPER_TEMPLATE void store_8(uint8_t *to, uint8x8_t y, size_t n)
{
    if (n >= 8)
        vst1_u8(to, y);
    else
        i8_store_some(to, vcombine_u8(y, y), n);
}

// ---- two rows of 3x3, eight channels

typedef struct two_pixels {
    nine k;
    float32x4_t scale[2];
    i8_range range;
    const int32_t *bias;
    uint8_t *to;
    size_t stride, row, n;
} two_pixels;

// Computes the next pixel and the pixel below it.
TAPER_TEMPLATE void pixel_of_two(two_pixels *p, const column *x, const column *y, const column *z)
{
    int32x4_t acc[4];
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++)
        acc[i] = vld1q_s32(p->bias + i % 2 * 4);
    sums_of_two(&p->k, x, y, z, acc);
    const float32x4_t scale[4] = {p->scale[0], p->scale[1], p->scale[0], p->scale[1]};
    const uint8x16_t bytes = i8_requantize(acc, scale, p->range);
    if (p->n >= 8) {
        vst1_u8(p->to, vget_low_u8(bytes));
        vst1_u8(p->to + p->row, vget_high_u8(bytes));
    } else {
        i8_store_some(p->to, bytes, p->n);
        i8_store_some(p->to + p->row, vextq_u8(bytes, bytes, 8), p->n);
    }
    p->to += p->stride;
}

TAPER_INSTANCE void two_rows(const taper_dwconv_i8 *t, size_t c, i8_range range)
{
    two_pixels p = {.k = nine_of(t, c),
                    .scale = {vld1q_f32(t->e.scale + c), vld1q_f32(t->e.scale + c + 4)},
                    .range = range,
                    .bias = t->e.bias + c,
                    .to = t->c + c,
                    .stride = t->c_stride,
                    .row = t->c_row,
                    .n = t->channels - c};
    const size_t step = t->step;
    const uint8_t *a[12], *next[4], *edge[4];
    TAPER_UNROLL
    for (size_t i = 0; i < 12; i++)
        a[i] = t->a[i] + c;
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++) {
        next[i] = a[3 * i + 2];
        edge[i] = t->edge != NULL ? t->edge + c : NULL;
    }
    column x = column_at((const uint8_t *const[]){a[0], a[3], a[6], a[9]}, 0);
    column y = column_at((const uint8_t *const[]){a[1], a[4], a[7], a[10]}, 0), z;
    size_t at = 0, i = t->pixels - (t->edge != NULL);
    // After three pixels each column is in its first variable again.
    TAPER_NO_UNROLL
    for (; i >= 3; i -= 3, at += 3 * step) {
        z = column_at(next, at);
        pixel_of_two(&p, &x, &y, &z);
        x = column_at(next, at + step);
        pixel_of_two(&p, &y, &z, &x);
        y = column_at(next, at + 2 * step);
        pixel_of_two(&p, &z, &x, &y);
    }
    const size_t left = i + (t->edge != NULL);
    if (left > 0) {
        z = i > 0 ? column_at(next, at) : column_at(edge, 0);
        pixel_of_two(&p, &x, &y, &z);
    }
    if (left > 1) {
        x = i > 1 ? column_at(next, at + step) : column_at(edge, 0);
        pixel_of_two(&p, &y, &z, &x);
    }
    if (left > 2) {
        y = column_at(edge, 0);
        pixel_of_two(&p, &z, &x, &y);
    }
}

// ---- kernels with any number of taps

// Computes channels [c, c + n) of a run of pixels. all_taps is the number of taps, a constant for 3x3.
TAPER_TEMPLATE void piece(const size_t all_taps, const int wide, const taper_dwconv_i8 *t, size_t c, size_t n,
                          i8_range range)
{
    const size_t places = wide ? 16 : 8, pixels = t->pixels, step = t->step, stride = t->c_stride;
    const int8_t *const weights = t->w + c * ((all_taps + 3) / 4 * 4);
    uint8_t *to = t->c + c;
    size_t at = c;
    TAPER_NO_UNROLL
    for (size_t i = 0; i < pixels; i++, at += step, to += stride) {
        const uint8_t *const *a = t->a;
        const int8_t *w = weights;
        int32x4_t acc[4];
        float32x4_t scale[4];
        TAPER_UNROLL
        for (size_t q = 0; q < places / 4; q++)
            acc[q] = vld1q_s32(t->e.bias + c + 4 * q);
        if (all_taps == 9) {
            taps_4(4, wide, a, at, w, acc);
            taps_4(4, wide, a + 4, at, w + 4 * places, acc);
            taps_4(1, wide, a + 8, at, w + 8 * places, acc);
        } else {
            size_t k = all_taps;
            TAPER_NO_UNROLL
            for (; k >= 4; k -= 4, a += 4, w += 4 * places)
                taps_4(4, wide, a, at, w, acc);
            if (k == 1) {
                taps_4(1, wide, a, at, w, acc);
            } else if (k == 2) {
                taps_4(2, wide, a, at, w, acc);
            } else if (k == 3) {
                taps_4(3, wide, a, at, w, acc);
            }
        }
        TAPER_UNROLL
        for (size_t q = 0; q < places / 4; q++)
            scale[q] = vld1q_f32(t->e.scale + c + 4 * q);
        if (wide) {
            i8_store(to, i8_requantize(acc, scale, range), n);
        } else {
            store_8(to, i8_requantize_half(acc, scale, range), n);
        }
    }
}

TAPER_TEMPLATE void pieces(const size_t taps, const taper_dwconv_i8 *t, i8_range range)
{
    size_t c = 0, n = t->channels;
    for (; n > 8; c += 16, n -= n < 16 ? n : 16)
        piece(taps, 1, t, c, n < 16 ? n : 16, range);
    if (n > 0)
        piece(taps, 0, t, c, n, range);
}

TAPER_TEMPLATE void run(const taper_dwconv_i8 *job)
{
    const i8_range range = i8_range_of(&job->e);
    if (job->rows == 2) {
        for (size_t c = 0; c < job->channels; c += 8)
            two_rows(job, c, range);
    } else if (job->taps == 9) {
        rows_of_nine(job, range);
    } else {
        pieces(job->taps, job, range);
    }
}
