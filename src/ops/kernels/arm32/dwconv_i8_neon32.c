// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with NEON of 32-bit ARM: 8 channels at a time in two accumulators. Weights
// are interleaved in fours of taps, and one load separates the four taps of 8 channels. Inputs are widened to 16 bits
// for the products.
#include "ops/kernels/dwconv_i8.h"
#include "ops/kernels/simd_i8_neon32.h"

#define BLOCK 8

TAPER_TEMPLATE void add_tap(const uint8_t *a, int8x8_t w, int32x4_t sum[2])
{
    const int16x8_t x = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(a))), y = vmovl_s8(w);
    sum[0] = vmlal_s16(sum[0], vget_low_s16(x), vget_low_s16(y));
    sum[1] = vmlal_s16(sum[1], vget_high_s16(x), vget_high_s16(y));
}

// Computes a pixel. taps is the job's number of taps, as a constant for 3x3.
TAPER_TEMPLATE void pixel(const size_t taps, const taper_dwconv_i8 *t, size_t at, uint8_t *c, i8_range range)
{
    const size_t groups = (taps + 3) / 4;
    const int8_t *w = t->w;
    for (size_t channel = 0; channel < t->channels; channel += BLOCK, w += groups * (4 * BLOCK)) {
        const size_t from = at + channel, left = t->channels - channel;
        int32x4_t sum[2] = {vld1q_s32(t->e.bias + channel), vld1q_s32(t->e.bias + channel + 4)};
        for (size_t g = 0; g < taps / 4; g++) {
            const int8x8x4_t four = vld4_s8(w + g * (4 * BLOCK));
            add_tap(t->a[4 * g] + from, four.val[0], sum);
            add_tap(t->a[4 * g + 1] + from, four.val[1], sum);
            add_tap(t->a[4 * g + 2] + from, four.val[2], sum);
            add_tap(t->a[4 * g + 3] + from, four.val[3], sum);
        }
        if (taps % 4 != 0) {
            const size_t g = taps / 4;
            const int8x8x4_t four = vld4_s8(w + g * (4 * BLOCK));
            add_tap(t->a[4 * g] + from, four.val[0], sum);
            if (taps % 4 > 1)
                add_tap(t->a[4 * g + 1] + from, four.val[1], sum);
            if (taps % 4 > 2)
                add_tap(t->a[4 * g + 2] + from, four.val[2], sum);
        }
        i8_store(
            c + channel,
            i8_requantize(sum[0], sum[1], vld1q_f32(t->e.scale + channel), vld1q_f32(t->e.scale + channel + 4), range),
            left);
    }
}

void taper_dwconv_i8_neon32(const taper_dwconv_i8 *job)
{
    const i8_range range = i8_range_of(&job->e);
    uint8_t *c = job->c;
    for (size_t i = 0; i < job->pixels; i++, c += job->c_stride) {
        if (job->taps == 9) {
            pixel(9, job, i * job->step, c, range);
        } else {
            pixel(job->taps, job, i * job->step, c, range);
        }
    }
}
