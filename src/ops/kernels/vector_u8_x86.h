// SPDX-License-Identifier: BSD-2-Clause
// The body of the x86 entries of vector_u8.h, written with the macros of simd_i8_x86.h. The including file defines
// I8_BYTES.
#include <string.h>

#include "ops/kernels/simd_i8_x86.h"
#include "ops/kernels/simd_i8_zip.h"

#include "ops/kernels/vector_u8_plain.h"

// ---- sums of two tensors

typedef struct sum_words {
    Q high, low; // high and low parts of the factors; each 32 bits are 16 bits of a's factor and 16 bits of b's
    Q offset, mask, threshold, half;
    __m128i shift;
} sum_words;

// Returns x, or x - 1 in lanes where x is less than bound.
TAPER_TEMPLATE Q I8(less_one_below)(Q x, Q bound)
{
#if I8_BYTES == 64
    return _mm512_mask_sub_epi32(x, _mm512_cmplt_epi32_mask(x, bound), x, _mm512_set1_epi32(1));
#else
    return P(add_epi32)(x, P(cmpgt_epi32)(bound, x));
#endif
}

// Computes sums. `pairs` contains a and b, with 16 bits each. The factors have 22 bits, so there are two products of 11
// by 8 bits. `roomy` is true if the sum plus half of 2^shift still fits into 32 bits.
TAPER_TEMPLATE Q sum_of(const bool roomy, Q pairs, const sum_words *s)
{
    const Q high = P(slli_epi32)(P(madd_epi16)(pairs, s->high), 11);
    const Q sum = P(add_epi32)(P(add_epi32)(high, P(madd_epi16)(pairs, s->low)), s->offset);
    if (roomy) // rounds halves away from zero: a half was added to all sums, so negative sums are reduced by one
        return P(sra_epi32)(I8(less_one_below)(sum, s->half), s->shift);
    const Q negative = P(srai_epi32)(sum, 31);
    const Q rest = P(add_epi32)(B(and)(sum, s->mask), negative);
    // 1 in lanes in which `rest` is larger than the threshold.
    const Q up = P(srli_epi32)(P(sub_epi32)(s->threshold, rest), 31);
    return P(add_epi32)(P(sra_epi32)(sum, s->shift), up);
}

TAPER_TEMPLATE size_t add_blocks(const bool roomy, size_t n, const uint8_t *a, const uint8_t *b, const taper_u8_sum *p,
                                 const sum_words *s, uint8_t *y)
{
    const Q none = B(setzero)(), zero_point = P(set1_epi16)((int16_t)p->zero_point);
    const Q low = P(set1_epi8)((char)p->min), high = P(set1_epi8)((char)p->max);
    size_t i = 0;
    for (; i + I8_BYTES <= n; i += I8_BYTES) {
        const Q va = I8(load)(a + i), vb = I8(load)(b + i);
        const Q lower = P(unpacklo_epi8)(va, vb), upper = P(unpackhi_epi8)(va, vb);
        const Q y0 = P(packs_epi32)(sum_of(roomy, P(unpacklo_epi8)(lower, none), s),
                                    sum_of(roomy, P(unpackhi_epi8)(lower, none), s));
        const Q y1 = P(packs_epi32)(sum_of(roomy, P(unpacklo_epi8)(upper, none), s),
                                    sum_of(roomy, P(unpackhi_epi8)(upper, none), s));
        const Q bytes = P(packus_epi16)(P(adds_epi16)(y0, zero_point), P(adds_epi16)(y1, zero_point));
        B(storeu)((Q *)(void *)(y + i), P(min_epu8)(P(max_epu8)(bytes, low), high));
    }
    return i;
}

static void add(size_t n, const uint8_t *a, const uint8_t *b, const taper_u8_sum *p, uint8_t *y)
{
    const uint32_t mask = (UINT32_C(1) << p->shift) - 1;
    const uint32_t fa = (uint32_t)p->a_factor, fb = (uint32_t)p->b_factor;
    // The magnitude of a sum is at most 255 times the sum of the two factors.
    const bool roomy = UINT64_C(255) * ((uint64_t)fa + fb) + mask / 2 + 1 <= INT32_MAX;
    const uint32_t half = mask / 2 + 1;
    const sum_words s = {.high = P(set1_epi32)((int32_t)(fa >> 11 | fb >> 11 << 16)),
                         .low = P(set1_epi32)((int32_t)((fa & 2047) | (fb & 2047) << 16)),
                         .offset = P(set1_epi32)((int32_t)((uint32_t)p->offset + (roomy ? half : 0))),
                         .mask = P(set1_epi32)((int32_t)mask),
                         .threshold = P(set1_epi32)((int32_t)(mask >> 1)),
                         .half = P(set1_epi32)((int32_t)half),
                         .shift = _mm_cvtsi32_si128((int32_t)p->shift)};
    size_t i = roomy ? add_blocks(true, n, a, b, p, &s, y) : add_blocks(false, n, a, b, p, &s, y);
    for (; i < n; i++)
        y[i] = one_sum(a[i], b[i], p);
}

// ---- products of two tensors

typedef struct product_words {
    F multiplier;
    Q a_point, b_point, zero_point, low;
} product_words;

// Multiplies numbers of 16 bits, which alternate with zeros.
TAPER_TEMPLATE Q product_of(Q a, Q b, const product_words *w)
{
    return P(cvtps_epi32)(P(mul_ps)(P(cvtepi32_ps)(P(madd_epi16)(a, b)), w->multiplier));
}

TAPER_TEMPLATE Q products_of(Q a, Q b, const product_words *w) // extends bytes to 16 bits and multiplies them
{
    const Q none = B(setzero)(), x = P(sub_epi16)(a, w->a_point), y = P(sub_epi16)(b, w->b_point);
    const Q low = product_of(P(unpacklo_epi16)(x, none), P(unpacklo_epi16)(y, none), w);
    const Q high = product_of(P(unpackhi_epi16)(x, none), P(unpackhi_epi16)(y, none), w);
    return P(adds_epi16)(P(packs_epi32)(low, high), w->zero_point);
}

TAPER_TEMPLATE void multiply_block(const uint8_t *a, Q vb, const product_words *w, uint8_t *y)
{
    const Q none = B(setzero)(), va = I8(load)(a);
    const Q low = products_of(P(unpacklo_epi8)(va, none), P(unpacklo_epi8)(vb, none), w);
    const Q high = products_of(P(unpackhi_epi8)(va, none), P(unpackhi_epi8)(vb, none), w);
    B(storeu)((Q *)(void *)y, P(max_epu8)(P(packus_epi16)(low, high), w->low));
}

static void multiply(size_t n, const uint8_t *a, const uint8_t *b, size_t b_step, const taper_u8_product *p, uint8_t *y)
{
    const product_words w = {.multiplier = P(set1_ps)(p->multiplier),
                             .a_point = P(set1_epi16)((int16_t)p->a_point),
                             .b_point = P(set1_epi16)((int16_t)p->b_point),
                             .zero_point = P(set1_epi16)((int16_t)p->zero_point),
                             .low = P(set1_epi8)((char)p->min)};
    size_t i = 0;
    for (; i + I8_BYTES <= n; i += I8_BYTES)
        multiply_block(a + i, b_step != 0 ? I8(load)(b + i) : P(set1_epi8)((char)*b), &w, y + i);
    if (i < n) { // a row often has the channels of one pixel, so these last elements are much of the work
        uint8_t last[3][I8_BYTES] = {{0}};
        memcpy(last[0], a + i, n - i);
        memcpy(last[1], b + i * b_step, b_step != 0 ? n - i : 1);
        multiply_block(last[0], b_step != 0 ? I8(load)(last[1]) : P(set1_epi8)((char)*b), &w, last[2]);
        memcpy(y + i, last[2], n - i);
    }
}

// ---- quantizing and dequantizing floats, and their range

static void quantize(size_t n, const float *x, float inverse, int32_t zero_point, uint8_t *y)
{
    const F factor = P(set1_ps)(inverse), low = P(set1_ps)((float)-zero_point),
            high = P(set1_ps)((float)(255 - zero_point));
    const F limit = P(set1_ps)(TAPER_U8_TOO_MUCH);
    const Q point = P(set1_epi32)(zero_point);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const F scaled = I8(up_to)(P(mul_ps)(P(loadu_ps)(x + i), factor), limit, low);
        const F v = P(min_ps)(P(max_ps)(scaled, low), high);
        store_low_bytes(y + i, P(add_epi32)(P(cvtps_epi32)(v), point));
    }
    for (; i < n; i++)
        y[i] = one_quantized(x[i], inverse, zero_point);
}

static void dequantize(size_t n, const uint8_t *x, float scale, int32_t zero_point, float *y)
{
    const F factor = P(set1_ps)(scale);
    const Q point = P(set1_epi32)(zero_point);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        P(storeu_ps)(y + i, P(mul_ps)(P(cvtepi32_ps)(P(sub_epi32)(load_bytes(x + i), point)), factor));
    for (; i < n; i++)
        y[i] = scale * (float)(x[i] - zero_point);
}

static void range(size_t n, const float *x, float *min, float *max)
{
    // A comparison with a NaN is false, so the minimum and the maximum found so far are kept and do not show the NaN.
    // The sum of all elements times 0 does: it becomes NaN.
    F low = P(setzero_ps)(), high = low, bad = low;
    const F none = low;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const F v = P(loadu_ps)(x + i);
        low = P(min_ps)(v, low);
        high = P(max_ps)(v, high);
        bad = P(add_ps)(bad, P(mul_ps)(v, none)); // the product with an infinity is NaN too
    }
    float lows[LANES], highs[LANES], bads[LANES], is_bad = 0;
    P(storeu_ps)(lows, low);
    P(storeu_ps)(highs, high);
    P(storeu_ps)(bads, bad);
    *min = *max = 0;
    for (size_t j = 0; j < LANES; j++) {
        *min = lows[j] < *min ? lows[j] : *min;
        *max = highs[j] > *max ? highs[j] : *max;
        is_bad += bads[j];
    }
    // Some element is NaN or infinite. A second pass finds out which of the two.
    for (size_t j = is_bad != is_bad ? 0 : i; j < n; j++) {
        *min = x[j] < *min ? x[j] : *min;
        *max = x[j] > *max ? x[j] : *max;
        if (x[j] != x[j]) {
            *min = *max = x[j];
            return;
        }
    }
}

// ---- maxima over the taps of windows

static void max_pool(size_t m, size_t count, size_t taps, const uint8_t *const *a, size_t a_tap_stride, uint8_t *y,
                     size_t y_stride)
{
    for (size_t i = 0; i < m; i++, a++, y += y_stride) {
        size_t c = 0;
        for (; c + I8_BYTES <= count; c += I8_BYTES) {
            Q most = I8(load)(a[0] + c);
            for (size_t t = 1; t < taps; t++)
                most = P(max_epu8)(most, I8(load)(a[t * a_tap_stride] + c));
            B(storeu)((Q *)(void *)(y + c), most);
        }
        for (; c + 16 <= count; c += 16) {
            __m128i most = _mm_loadu_si128((const __m128i *)(const void *)(a[0] + c));
            for (size_t t = 1; t < taps; t++)
                most = _mm_max_epu8(most, _mm_loadu_si128((const __m128i *)(const void *)(a[t * a_tap_stride] + c)));
            _mm_storeu_si128((__m128i *)(void *)(y + c), most);
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

// ---- planes to pixels of four bytes

TAPER_TEMPLATE void store_pixels(uint8_t *y, const Q r[4])
{
#if I8_BYTES == 64
    // Brings the four 128-bit parts of each register, which are interleaved, into their order.
    const Q a = _mm512_shuffle_i32x4(r[0], r[1], 0x44), b = _mm512_shuffle_i32x4(r[2], r[3], 0x44);
    const Q c = _mm512_shuffle_i32x4(r[0], r[1], 0xEE), d = _mm512_shuffle_i32x4(r[2], r[3], 0xEE);
    _mm512_storeu_si512(y, _mm512_shuffle_i32x4(a, b, 0x88));
    _mm512_storeu_si512(y + 64, _mm512_shuffle_i32x4(a, b, 0xDD));
    _mm512_storeu_si512(y + 128, _mm512_shuffle_i32x4(c, d, 0x88));
    _mm512_storeu_si512(y + 192, _mm512_shuffle_i32x4(c, d, 0xDD));
#else
    _mm256_storeu_si256((Q *)(void *)y, _mm256_permute2x128_si256(r[0], r[1], 0x20));
    _mm256_storeu_si256((Q *)(void *)(y + 32), _mm256_permute2x128_si256(r[2], r[3], 0x20));
    _mm256_storeu_si256((Q *)(void *)(y + 64), _mm256_permute2x128_si256(r[0], r[1], 0x31));
    _mm256_storeu_si256((Q *)(void *)(y + 96), _mm256_permute2x128_si256(r[2], r[3], 0x31));
#endif
}

static void interleave(size_t n, const uint8_t *const planes[4], uint8_t *y)
{
    const uint8_t *const a = planes[0], *const b = planes[1], *const c = planes[2], *const d = planes[3];
    if (n < I8_BYTES) {
        for (size_t i = 0; i < n; i++) {
            const uint8_t pixel[4] = {a[i], b[i], c[i], d[i]};
            memcpy(y + 4 * i, pixel, sizeof pixel);
        }
        return;
    }
    for (size_t i = 0; i < n; i += I8_BYTES) {
        Q r[4];
        // The last step overlaps the step before it and computes some elements again.
        i = i + I8_BYTES > n ? n - I8_BYTES : i;
        I8(zip)(I8(load)(a + i), I8(load)(b + i), I8(load)(c + i), I8(load)(d + i), r);
        store_pixels(y + 4 * i, r);
    }
}
