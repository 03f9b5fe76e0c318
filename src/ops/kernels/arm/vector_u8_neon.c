// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_u8.h with NEON.
#include <arm_neon.h>

#include "ops/kernels/vector_u8_plain.h"

typedef struct sum_words {
    int32x4_t a_factor, b_factor, offset, shift;
} sum_words;

TAPER_TEMPLATE int32x4_t sum_of(uint16x4_t a, uint16x4_t b, const sum_words *s)
{
    int32x4_t sum = vmlaq_s32(s->offset, vreinterpretq_s32_u32(vmovl_u16(a)), s->a_factor);
    sum = vmlaq_s32(sum, vreinterpretq_s32_u32(vmovl_u16(b)), s->b_factor);
    // The shift rounds halves up. Subtracting one from a negative sum first makes it round halves away from zero.
    return vrshlq_s32(vsraq_n_s32(sum, sum, 31), s->shift);
}

static void add(size_t n, const uint8_t *a, const uint8_t *b, const taper_u8_sum *p, uint8_t *y)
{
    const sum_words s = {.a_factor = vdupq_n_s32(p->a_factor),
                         .b_factor = vdupq_n_s32(p->b_factor),
                         .offset = vdupq_n_s32(p->offset),
                         .shift = vdupq_n_s32(-(int32_t)p->shift)};
    const int16x8_t zero_point = vdupq_n_s16((int16_t)p->zero_point);
    const uint8x8_t low = vdup_n_u8((uint8_t)p->min), high = vdup_n_u8((uint8_t)p->max);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint16x8_t va = vmovl_u8(vld1_u8(a + i)), vb = vmovl_u8(vld1_u8(b + i));
        const int16x4_t first = vqmovn_s32(sum_of(vget_low_u16(va), vget_low_u16(vb), &s));
        const int16x8_t all = vqmovn_high_s32(first, sum_of(vget_high_u16(va), vget_high_u16(vb), &s));
        vst1_u8(y + i, vmin_u8(vmax_u8(vqmovun_s16(vqaddq_s16(all, zero_point)), low), high));
    }
    for (; i < n; i++)
        y[i] = one_sum(a[i], b[i], p);
}

TAPER_TEMPLATE int16x4_t product_of(int16x4_t a, int16x4_t b, float multiplier)
{
    return vqmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vcvtq_f32_s32(vmull_s16(a, b)), multiplier)));
}

static void multiply(size_t n, const uint8_t *a, const uint8_t *b, size_t b_step, const taper_u8_product *p, uint8_t *y)
{
    const uint8x8_t a_point = vdup_n_u8((uint8_t)p->a_point), b_point = vdup_n_u8((uint8_t)p->b_point);
    const uint8x8_t low = vdup_n_u8((uint8_t)p->min);
    const int16x8_t zero_point = vdupq_n_s16((int16_t)p->zero_point);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint8x8_t vb = b_step != 0 ? vld1_u8(b + i) : vdup_n_u8(*b);
        const int16x8_t x = vreinterpretq_s16_u16(vsubl_u8(vld1_u8(a + i), a_point));
        const int16x8_t z = vreinterpretq_s16_u16(vsubl_u8(vb, b_point));
        const int16x8_t product = vcombine_s16(product_of(vget_low_s16(x), vget_low_s16(z), p->multiplier),
                                               product_of(vget_high_s16(x), vget_high_s16(z), p->multiplier));
        vst1_u8(y + i, vmax_u8(vqmovun_s16(vqaddq_s16(product, zero_point)), low));
    }
    for (; i < n; i++)
        y[i] = one_product(a[i], b[i * b_step], p);
}

TAPER_TEMPLATE int32x4_t quantized(const float *x, float inverse, float32x4_t low, float32x4_t high)
{
    const float32x4_t y = vmulq_n_f32(vld1q_f32(x), inverse);
    const float32x4_t held = vbslq_f32(vcleq_f32(y, vdupq_n_f32(TAPER_U8_TOO_MUCH)), y, low); // a NaN becomes `low`
    return vcvtnq_s32_f32(vminq_f32(vmaxq_f32(held, low), high));
}

static void quantize(size_t n, const float *x, float inverse, int32_t zero_point, uint8_t *y)
{
    const float32x4_t low = vdupq_n_f32((float)-zero_point), high = vdupq_n_f32((float)(255 - zero_point));
    const int16x8_t point = vdupq_n_s16((int16_t)zero_point);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int32x4_t a = quantized(x + i, inverse, low, high), b = quantized(x + i + 4, inverse, low, high);
        vst1_u8(y + i, vqmovun_s16(vaddq_s16(vcombine_s16(vmovn_s32(a), vmovn_s32(b)), point)));
    }
    for (; i < n; i++)
        y[i] = one_quantized(x[i], inverse, zero_point);
}

static void dequantize(size_t n, const uint8_t *x, float scale, int32_t zero_point, float *y)
{
    const int16x8_t point = vdupq_n_s16((int16_t)zero_point);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int16x8_t v = vsubq_s16(vreinterpretq_s16_u16(vmovl_u8(vld1_u8(x + i))), point);
        vst1q_f32(y + i, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(v))), scale));
        vst1q_f32(y + i + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_high_s16(v)), scale));
    }
    for (; i < n; i++)
        y[i] = scale * (float)(x[i] - zero_point);
}

static void range(size_t n, const float *x, float *min, float *max)
{
    // If an element is NaN, both results are NaN.
    float32x4_t low = vdupq_n_f32(0.0f), high = low;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float32x4_t v = vld1q_f32(x + i);
        low = vminq_f32(low, v);
        high = vmaxq_f32(high, v);
    }
    *min = vminvq_f32(low);
    *max = vmaxvq_f32(high);
    for (; i < n; i++) {
        *min = x[i] >= *min || *min != *min ? *min : x[i];
        *max = x[i] <= *max || *max != *max ? *max : x[i];
    }
}

static void max_pool(size_t m, size_t count, size_t taps, const uint8_t *const *a, size_t a_tap_stride, uint8_t *y,
                     size_t y_stride)
{
    for (size_t i = 0; i < m; i++, a++, y += y_stride) {
        size_t c = 0;
        for (; c + 16 <= count; c += 16) {
            uint8x16_t most = vld1q_u8(a[0] + c);
            for (size_t t = 1; t < taps; t++)
                most = vmaxq_u8(most, vld1q_u8(a[t * a_tap_stride] + c));
            vst1q_u8(y + c, most);
        }
        for (; c < count; c++) {
            uint8_t most = 0;
            for (size_t t = 0; t < taps; t++) {
                const uint8_t x = a[t * a_tap_stride][c];
                most = x > most ? x : most;
            }
            y[c] = most;
        }
    }
}

static void translate(size_t n, const uint8_t *table, const uint8_t *x, uint8_t *y)
{
    uint8x16x4_t part[4]; // four parts of the table, with 64 entries each
    TAPER_UNROLL
    for (size_t k = 0; k < 4; k++) {
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            part[k].val[j] = vld1q_u8(table + 64 * k + 16 * j);
    }
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint8x16_t at = vld1q_u8(x + i), found = vqtbl4q_u8(part[0], at);
        TAPER_UNROLL
        for (size_t k = 1; k < 4; k++) { // an index beyond the part leaves the byte unchanged
            at = vsubq_u8(at, vdupq_n_u8(64));
            found = vqtbx4q_u8(found, part[k], at);
        }
        vst1q_u8(y + i, found);
    }
    for (; i < n; i++)
        y[i] = table[x[i]];
}

VECTOR_U8_ENTRY(neon, translate, NULL)
