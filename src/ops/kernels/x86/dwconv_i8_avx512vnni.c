// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with AVX-512 VNNI: 64 channels at a time, the last ones 64, 32 or 16.
#include <string.h>

#include "ops/kernels/dwconv_i8.h"

#define I8_VNNI 1
#define I8_BYTES 16
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_128_store(uint8_t *to, __m128i y, size_t n)
{
    _mm_mask_storeu_epi8(to, (__mmask16)((UINT32_C(1) << n) - 1), y);
}
#include "ops/kernels/dwconv_i8_tmpl.h"

#undef I8_BYTES
#define I8_BYTES 32
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_256_store(uint8_t *to, __m256i y, size_t n)
{
    _mm256_mask_storeu_epi8(to, (__mmask32)((UINT64_C(1) << n) - 1), y);
}
#include "ops/kernels/dwconv_i8_tmpl.h"

#undef I8_BYTES
#define I8_BYTES 64
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_512_store(uint8_t *to, __m512i y, size_t n)
{
    if (n == 64) {
        _mm512_storeu_si512(to, y);
    } else {
        _mm512_mask_storeu_epi8(to, (UINT64_C(1) << n) - 1, y);
    }
}
#include "ops/kernels/dwconv_i8_tmpl.h"

TAPER_TEMPLATE void pixels(const size_t taps, const taper_dwconv_i8 *t)
{
    const i8_512_range r512 = i8_512_range_of(t->e.zero_point, t->e.min);
    const i8_256_range r256 = i8_256_range_of(t->e.zero_point, t->e.min);
    const i8_128_range r128 = i8_128_range_of(t->e.zero_point, t->e.min);
    uint8_t *to = t->c;
    for (size_t i = 0; i < t->pixels; i++, to += t->c_stride) {
        const size_t at = i * t->step;
        size_t c = 0, n = t->channels;
        for (; n > 32; c += 64, n -= n < 64 ? n : 64)
            i8_512_piece(taps, t, at, c, n < 64 ? n : 64, r512, to);
        if (n > 16) {
            i8_256_piece(taps, t, at, c, n, r256, to);
        } else if (n > 0) {
            i8_128_piece(taps, t, at, c, n, r128, to);
        }
    }
}

#if !TAPER_SMALL
// ---- 3x3 by columns, whose pixels are brought side by side once for all outputs that they are part of. A register has
// 64 channels of one run of pixels, or 32 of two runs, or 16 of four: the parts that a row is cut into, of which the
// last one goes over some pixels again where they are not as long.

enum { MOST_PARTS = 4 };

typedef struct parts {
    size_t pixels;            // of each
    size_t start[MOST_PARTS]; // their first pixels
} parts;

TAPER_TEMPLATE parts cut(const size_t count, size_t pixels)
{
    parts p = {.pixels = (pixels + count - 1) / count};
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++)
        p.start[k] = k * p.pixels + p.pixels > pixels ? pixels - p.pixels : k * p.pixels;
    return p;
}

// What all parts have in common: 64 bytes, 32, or 16.
TAPER_TEMPLATE __m512i spread(const size_t count, const void *p)
{
    return count == 1   ? _mm512_loadu_si512(p)
           : count == 2 ? _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p))
                        : _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

TAPER_TEMPLATE __v16si spread_sums(const size_t count, const int32_t *p)
{
    return (__v16si)spread(count, p);
}

TAPER_TEMPLATE __m512 spread_scales(const size_t count, const float *p)
{
    return _mm512_castsi512_ps(spread(count, p));
}

// A byte of every channel, each part's from its own place.
TAPER_TEMPLATE __m512i take(const size_t count, const uint8_t *const at[MOST_PARTS])
{
    if (count == 1)
        return _mm512_loadu_si512(at[0]);
    if (count == 2) {
        return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)at[0])),
                                  _mm256_loadu_si256((const __m256i *)(const void *)at[1]), 1);
    }
    __m128i x[MOST_PARTS];
    TAPER_UNROLL
    for (size_t k = 0; k < MOST_PARTS; k++)
        x[k] = _mm_loadu_si128((const __m128i *)(const void *)at[k]);
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(x[0]), x[1], 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(x[2]), x[3], 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

TAPER_TEMPLATE __m512i take_behind(const size_t count, const uint8_t *p, const size_t behind[MOST_PARTS])
{
    const uint8_t *at[MOST_PARTS];
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++)
        at[k] = p + behind[k];
    return take(count, at);
}

// n channels of each part's pixel.
TAPER_TEMPLATE void put(const size_t count, uint8_t *to, const size_t behind[MOST_PARTS], __m512i y, size_t n)
{
    if (count == 1) {
        i8_512_store(to, y, n);
    } else if (count == 2) {
        i8_256_store(to, _mm512_castsi512_si256(y), n);
        i8_256_store(to + behind[1], _mm512_extracti64x4_epi64(y, 1), n);
    } else {
        i8_128_store(to, _mm512_castsi512_si128(y), n);
        i8_128_store(to + behind[1], _mm512_extracti32x4_epi32(y, 1), n);
        i8_128_store(to + behind[2], _mm512_extracti32x4_epi32(y, 2), n);
        i8_128_store(to + behind[3], _mm512_extracti32x4_epi32(y, 3), n);
    }
}

// Weights of column x in the order of the packed ones, four for each place: of its three taps and zero.
TAPER_TEMPLATE void columns(const size_t count, const int8_t *w, __m512i to[3][4])
{
    const size_t bytes = 64 / count;
    const __m512i byte = _mm512_set1_epi32(0xFF), second = _mm512_set1_epi32(0xFF00);
    const __m512i third = _mm512_set1_epi32(0xFF0000);
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++) {
        // Taps 0 to 3 are a's bytes, 4 to 7 b's, 8 c's.
        const __m512i a = spread(count, w + bytes * q), b = spread(count, w + bytes * (4 + q));
        const __m512i c = spread(count, w + bytes * (8 + q));
        to[0][q] = (a & byte) | (_mm512_srli_epi32(a, 16) & second) | (b & third);
        to[1][q] =
            (_mm512_srli_epi32(a, 8) & byte) | (_mm512_slli_epi32(b, 8) & second) | (_mm512_srli_epi32(b, 8) & third);
        to[2][q] = (_mm512_srli_epi32(a, 16) & byte) | (b & second) | (_mm512_slli_epi32(c, 16) & third);
    }
}

// Stride 1, two rows: four pixels of a column are the right, middle and left one's of three outputs; a byte further
// down they are the second row's. Adds a column to the sums of the output it is the right one of, to those of the next,
// and begins the one behind.
TAPER_TEMPLATE void column(const size_t count, const __m512i x[4], const __m512i w[3][4], const int32_t *bias,
                           __v16si right[2][4], __v16si middle[2][4], __v16si left[2][4])
{
    __m512i r[4];
    i8_512_zip(x[0], x[1], x[2], x[3], r);
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++) {
        const __m512i below = _mm512_srli_epi32(r[q], 8);
        const __v16si start = spread_sums(count, bias + 16 / count * q);
        right[0][q] = i8_512_dot(right[0][q], r[q], w[2][q]);
        right[1][q] = i8_512_dot(right[1][q], below, w[2][q]);
        middle[0][q] = i8_512_dot(middle[0][q], r[q], w[1][q]);
        middle[1][q] = i8_512_dot(middle[1][q], below, w[1][q]);
        left[0][q] = i8_512_dot(start, r[q], w[0][q]);
        left[1][q] = i8_512_dot(start, below, w[0][q]);
    }
}

TAPER_TEMPLATE __m512i bytes_of(const size_t count, __v16si sums[4], const float *scale, i8_512_range range)
{
    __m512i y[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        y[q] = i8_512_scaled(sums[q], spread_scales(count, scale + 16 / count * q));
    return i8_512_narrow(y[0], y[1], y[2], y[3], range);
}

// Where column g of row r is, of which pixel 0 has 0 to 2.
TAPER_TEMPLATE const uint8_t *column_at(const taper_dwconv_i8 *t, size_t r, size_t g)
{
    return g < 2 ? t->a[3 * r + g] : t->a[3 * r + 2] + (g - 2) * t->step;
}

TAPER_TEMPLATE void two(const size_t count, const taper_dwconv_i8 *t, size_t c, size_t n, i8_512_range range)
{
    // Results are bytes, which might be anything: what the loop reads of the job is read before.
    const int32_t *const bias = t->e.bias + c;
    const float *const scale = t->e.scale + c;
    const size_t step = t->step, c_stride = t->c_stride, c_row = t->c_row;
    const parts part = cut(count, t->pixels);
    const size_t pixels = part.pixels;
    const uint8_t *const edge = t->edge != NULL ? t->edge + c : NULL;
    const uint8_t *p[4];
    uint8_t *to = t->c + c;
    size_t behind[MOST_PARTS], y_behind[MOST_PARTS];
    __m512i w[3][4], x[4];
    __v16si sums[3][2][4]; // of the output that the column is the right one of, of the next, of the one behind
    columns(count, t->w + c * 12, w);
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++) {
        behind[k] = part.start[k] * step;
        y_behind[k] = part.start[k] * c_stride;
    }
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        sums[1][0][q] = sums[1][1][q] = sums[2][0][q] = sums[2][1][q] = (__v16si)_mm512_setzero_si512();
    TAPER_UNROLL
    for (size_t g = 0; g < 2; g++) { // of the first pixels
        TAPER_UNROLL
        for (size_t r = 0; r < 4; r++) {
            const uint8_t *at[MOST_PARTS];
            TAPER_UNROLL
            for (size_t k = 0; k < count; k++)
                at[k] = column_at(t, r, part.start[k] + g) + c;
            x[r] = take(count, at);
        }
        TAPER_UNROLL
        for (size_t i = 0; i < 8; i++) {
            sums[0][i / 4][i % 4] = sums[1][i / 4][i % 4];
            sums[1][i / 4][i % 4] = sums[2][i / 4][i % 4];
        }
        column(count, x, (const __m512i(*)[4])w, bias, sums[0], sums[1], sums[2]);
    }
    TAPER_UNROLL
    for (size_t r = 0; r < 4; r++)
        p[r] = t->a[3 * r + 2] + c;
    TAPER_NO_UNROLL
    for (size_t i = 1; i <= pixels; i++, to += c_stride) {
        if (edge != NULL && i == pixels) {
            TAPER_UNROLL
            for (size_t r = 0; r < 4; r++) {
                const uint8_t *at[MOST_PARTS];
                TAPER_UNROLL
                for (size_t k = 0; k < count; k++)
                    at[k] = part.start[k] == part.start[count - 1] ? edge : p[r] + behind[k];
                x[r] = take(count, at);
            }
        } else {
            TAPER_UNROLL
            for (size_t r = 0; r < 4; r++)
                x[r] = take_behind(count, p[r], behind);
        }
        TAPER_UNROLL
        for (size_t k = 0; k < 8; k++) {
            sums[0][k / 4][k % 4] = sums[1][k / 4][k % 4];
            sums[1][k / 4][k % 4] = sums[2][k / 4][k % 4];
        }
        column(count, x, (const __m512i(*)[4])w, bias, sums[0], sums[1], sums[2]);
        TAPER_UNROLL
        for (size_t r = 0; r < 2; r++)
            put(count, to + r * c_row, y_behind, bytes_of(count, sums[0][r], scale, range), n);
        TAPER_UNROLL
        for (size_t r = 0; r < 4; r++)
            p[r] += step;
    }
}

// Stride 2, one row: a pixel's right column is the next one's left.
TAPER_TEMPLATE void wide(const size_t count, const taper_dwconv_i8 *t, size_t c, size_t n, i8_512_range range)
{
    const int32_t *const bias = t->e.bias + c;
    const float *const scale = t->e.scale + c;
    const size_t step = t->step, c_stride = t->c_stride;
    const parts part = cut(count, t->pixels);
    const __m512i none = _mm512_setzero_si512();
    const uint8_t *p[3][2]; // middle and right
    uint8_t *to = t->c + c;
    size_t behind[MOST_PARTS], y_behind[MOST_PARTS];
    __m512i w[3][4], left[4], x[3];
    columns(count, t->w + c * 12, w);
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++) {
        behind[k] = part.start[k] * step;
        y_behind[k] = part.start[k] * c_stride;
    }
    TAPER_UNROLL
    for (size_t r = 0; r < 3; r++) {
        p[r][0] = t->a[3 * r + 1] + c;
        p[r][1] = t->a[3 * r + 2] + c;
        x[r] = take_behind(count, t->a[3 * r] + c, behind);
    }
    i8_512_zip(x[0], x[1], x[2], none, left);
    TAPER_NO_UNROLL
    for (size_t i = 0; i < part.pixels; i++, to += c_stride) {
        __m512i middle[4], right[4];
        __v16si sums[4];
        TAPER_UNROLL
        for (size_t r = 0; r < 3; r++)
            x[r] = take_behind(count, p[r][0], behind);
        i8_512_zip(x[0], x[1], x[2], none, middle);
        TAPER_UNROLL
        for (size_t r = 0; r < 3; r++)
            x[r] = take_behind(count, p[r][1], behind);
        i8_512_zip(x[0], x[1], x[2], none, right);
        TAPER_UNROLL
        for (size_t q = 0; q < 4; q++) {
            sums[q] = i8_512_dot(spread_sums(count, bias + 16 / count * q), left[q], w[0][q]);
            sums[q] = i8_512_dot(i8_512_dot(sums[q], middle[q], w[1][q]), right[q], w[2][q]);
            left[q] = right[q];
        }
        put(count, to, y_behind, bytes_of(count, sums, scale, range), n);
        TAPER_UNROLL
        for (size_t r = 0; r < 3; r++) {
            p[r][0] += step;
            p[r][1] += step;
        }
    }
}

#define ALL_PIECES(name)                                                                                               \
    TAPER_INSTANCE void name##_pieces(const taper_dwconv_i8 *t)                                                        \
    {                                                                                                                  \
        const i8_512_range range = i8_512_range_of(t->e.zero_point, t->e.min);                                         \
        size_t c = 0, n = t->channels;                                                                                 \
        for (; n > 32; c += 64, n -= n < 64 ? n : 64)                                                                  \
            name(1, t, c, n < 64 ? n : 64, range);                                                                     \
        if (n > 16) {                                                                                                  \
            name(2, t, c, n, range);                                                                                   \
        } else if (n > 0) {                                                                                            \
            name(4, t, c, n, range);                                                                                   \
        }                                                                                                              \
    }
ALL_PIECES(two)
ALL_PIECES(wide)

// Whether the last column of a pixel is the first one of the next.
static int columns_meet(const taper_dwconv_i8 *t)
{
    return t->a[2] == t->a[0] + t->step && t->a[5] == t->a[3] + t->step && t->a[8] == t->a[6] + t->step;
}

// What may be done by columns. False: it may not.
static int by_columns(const taper_dwconv_i8 *t)
{
    if (t->rows == 2) {
        two_pieces(t);
    } else if (t->taps == 9 && t->pixels > 1 && columns_meet(t)) {
        wide_pieces(t);
    } else {
        return 0;
    }
    return 1;
}
#else
static int by_columns(const taper_dwconv_i8 *t)
{
    (void)t;
    return 0;
}
#endif

void taper_dwconv_i8_avx512vnni(const taper_dwconv_i8 *job)
{
    if (by_columns(job)) {
        return;
    }
    if (job->taps == 9) {
        pixels(9, job);
    } else {
        pixels(job->taps, job);
    }
}
