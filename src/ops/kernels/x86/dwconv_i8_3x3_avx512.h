// SPDX-License-Identifier: BSD-2-Clause
// Depthwise 3x3 of quantized numbers by columns, with AVX-512 VNNI. The bytes of a column are brought next to each
// other once, for all outputs that use the column. A dot product adds three of these bytes. For this dot product
// weights are packed by columns.
//
// A register has 64 channels of one run of pixels, 32 of two runs, or 16 of four. So a row of pixels is divided into
// one, two or four runs, the parts; if they are not equally long, the last part repeats some pixels.
//
// Half of the channels are computed at a time: the first eight of every sixteen, or the last eight. Weights, scales,
// three columns and the sums of two outputs then fit into the registers. Two outputs are converted to bytes together:
// each fills the eight places that the other one leaves. Meanwhile the products of the next two outputs are added. If
// only one column was processed at a time, the conversions would wait for the products. Zen 5 takes 10.4 to 11 cycles
// for 64 sums with stride 1, of which 8 are the multiplications.

enum { MOST_PARTS = 4 };

typedef struct parts {
    size_t pixels;            // number of pixels of each part
    size_t start[MOST_PARTS]; // first pixel of each part
} parts;

TAPER_TEMPLATE parts cut(const size_t count, size_t pixels)
{
    parts p = {.pixels = (pixels + count - 1) / count};
    TAPER_UNROLL
    for (size_t k = 1; k < count; k++)
        p.start[k] = k * p.pixels + p.pixels > pixels ? pixels - p.pixels : k * p.pixels;
    return p;
}

// Loads data that are the same for all parts: 64, 32 or 16 bytes.
TAPER_TEMPLATE __m512i spread(const size_t count, const void *p)
{
    return count == 1   ? _mm512_loadu_si512(p)
           : count == 2 ? _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p))
                        : _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

// Loads a byte of each channel, for each part from the part's own address.
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

// Does what take does, except that the last part reads at `edge` if it is not NULL.
TAPER_TEMPLATE __m512i take_edge(const size_t count, const uint8_t *p, const size_t behind[MOST_PARTS],
                                 const parts *part, const uint8_t *edge)
{
    const uint8_t *at[MOST_PARTS];
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++)
        at[k] = edge != NULL && part->start[k] == part->start[count - 1] ? edge : p + behind[k];
    return take(count, at);
}

// Loads column g, 0 or 1, of each part's first pixel. `a` points to the three columns of a row's first pixel.
TAPER_TEMPLATE __m512i first_column(const size_t count, const parts *part, const uint8_t *const *a, size_t g,
                                    size_t step, size_t c)
{
    const uint8_t *at[MOST_PARTS];
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++) {
        const size_t column = part->start[k] + g;
        at[k] = (column < 2 ? a[column] : a[2] + (column - 2) * step) + c;
    }
    return take(count, at);
}

// The weights, biases and scales of one half of the current channels, the bytes to store, and the offsets of the parts.
typedef struct half_layer {
    __m512i w[3][2];     // for each column: the weights of three taps and a zero, for each channel
    __m512i below[3][2]; // for each column, the weights for the row below: a zero, then three taps
    __v16si bias[2];
    const int32_t *biases;
    __m512 scale[2];
    i8_512_range range;
    // Masks of the bytes to store for the first and for the second of two outputs, each relative to the output's
    // address.
    __mmask64 first, second;
    size_t behind[MOST_PARTS], y_behind[MOST_PARTS];
} half_layer;

TAPER_TEMPLATE uint64_t lowest(size_t count)
{
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

TAPER_TEMPLATE void half_layer_of(const size_t count, const size_t half, const taper_dwconv_i8 *t, size_t c, size_t n,
                                  const parts *part, half_layer *l)
{
    const size_t bytes = 64 / count, at = c + 16 / count * 2 * half;
    TAPER_UNROLL
    for (size_t q = 0; q < 2; q++) {
        TAPER_UNROLL
        for (size_t x = 0; x < 3; x++) {
            l->w[x][q] = spread(count, t->w + c * 12 + bytes * (4 * x + 2 * half + q));
            l->below[x][q] = _mm512_slli_epi32(l->w[x][q], 8);
        }
        l->bias[q] = (__v16si)spread(count, t->e.bias + at + 16 / count * q);
        l->scale[q] = _mm512_castsi512_ps(spread(count, t->e.scale + at + 16 / count * q));
    }
    l->biases = t->e.bias + at;
    l->range = i8_512_range_of(t->e.zero_point, t->e.min);
    l->first = UINT64_C(0x00FF00FF00FF00FF) & lowest(n > 8 * half ? n - 8 * half : 0);
    l->second = UINT64_C(0xFF00FF00FF00FF00) & lowest(n + 8 - 8 * half);
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++) {
        l->behind[k] = part->start[k] * t->step;
        l->y_behind[k] = part->start[k] * t->c_stride;
    }
}

// Interleaves the bytes of four rows, for every second group of eight channels.
TAPER_TEMPLATE void zip_half(const size_t half, const __m512i x[4], __m512i r[2])
{
    const __m512i a = half ? _mm512_unpackhi_epi8(x[0], x[1]) : _mm512_unpacklo_epi8(x[0], x[1]);
    const __m512i b = half ? _mm512_unpackhi_epi8(x[2], x[3]) : _mm512_unpacklo_epi8(x[2], x[3]);
    r[0] = _mm512_unpacklo_epi16(a, b);
    r[1] = _mm512_unpackhi_epi16(a, b);
}

// Loads the initial sums of an output. There are not enough registers to keep them, and a copy takes longer than a
// load.
TAPER_TEMPLATE void begin_sums(const size_t count, half_layer *l, __v16si s[2])
{
    __asm__("" : "+r"(l->biases)); // keeps compilers from loading the biases only once
    TAPER_UNROLL
    for (size_t q = 0; q < 2; q++)
        s[q] = count == 1 ? i8_512_load_sums(l->biases + 16 * q) : l->bias[q];
}

TAPER_TEMPLATE void add_column(const __m512i r[2], const __m512i w[2], __v16si s[2])
{
    TAPER_UNROLL
    for (size_t q = 0; q < 2; q++)
        s[q] = i8_512_dot(s[q], r[q], w[q]);
}

TAPER_TEMPLATE void floats_of(const __v16si s[4], __m512 f[4])
{
    TAPER_UNROLL
    for (size_t k = 0; k < 4; k++)
        f[k] = _mm512_cvtepi32_ps((__m512i)s[k]);
}

TAPER_TEMPLATE void put(const size_t count, uint8_t *to, const size_t behind[MOST_PARTS], __m512i y, __mmask64 mask)
{
    if (count == 1) {
        _mm512_mask_storeu_epi8(to, mask, y);
    } else if (count == 2) {
        _mm256_mask_storeu_epi8(to, (__mmask32)mask, _mm512_castsi512_si256(y));
        _mm256_mask_storeu_epi8(to + behind[1], (__mmask32)mask, _mm512_extracti64x4_epi64(y, 1));
    } else {
        _mm_mask_storeu_epi8(to, (__mmask16)mask, _mm512_castsi512_si128(y));
        _mm_mask_storeu_epi8(to + behind[1], (__mmask16)mask, _mm512_extracti32x4_epi32(y, 1));
        _mm_mask_storeu_epi8(to + behind[2], (__mmask16)mask, _mm512_extracti32x4_epi32(y, 2));
        _mm_mask_storeu_epi8(to + behind[3], (__mmask16)mask, _mm512_extracti32x4_epi32(y, 3));
    }
}

// Stores the bytes of two outputs. plain is true if the zero point and the minimum are 0, as after a ReLU.
TAPER_TEMPLATE void put_two(const size_t count, const size_t half, const int plain, const half_layer *l,
                            const __m512 f[4], uint8_t *to, uint8_t *second)
{
    __m512i y[4];
    TAPER_UNROLL
    for (size_t k = 0; k < 4; k++)
        y[k] = _mm512_cvtps_epi32(_mm512_mul_ps(f[k], l->scale[k % 2]));
    __m512i a = _mm512_packs_epi32(y[0], y[1]), b = _mm512_packs_epi32(y[2], y[3]);
    if (!plain) {
        a = _mm512_adds_epi16(a, l->range.zero_point);
        b = _mm512_adds_epi16(b, l->range.zero_point);
    }
    __m512i bytes = _mm512_packus_epi16(a, b);
    if (!plain)
        bytes = _mm512_max_epu8(bytes, l->range.low);
    put(count, to + 8 * half, l->y_behind, bytes, l->first);
    put(count, second + 8 * half - 8, l->y_behind, bytes, l->second);
}

// ---- stride 1, two rows at a time: four pixels of a column, of which the upper three are the first row's

typedef struct two_rows {
    half_layer l;
    const uint8_t *p[4]; // pointers to the next column
    size_t step, c_stride, c_row;
    uint8_t *to;
    __v16si s[4]; // two sums of the first row's output, and two of the second row's
} two_rows;

TAPER_TEMPLATE void sums_of_two(const size_t count, two_rows *j, const __m512i a[2], const __m512i b[2],
                                const __m512i c[2])
{
    begin_sums(count, &j->l, j->s);
    begin_sums(count, &j->l, j->s + 2);
    add_column(a, j->l.w[0], j->s);
    add_column(a, j->l.below[0], j->s + 2);
    add_column(b, j->l.w[1], j->s);
    add_column(b, j->l.below[1], j->s + 2);
    add_column(c, j->l.w[2], j->s);
    add_column(c, j->l.below[2], j->s + 2);
}

// Loads the next column of each part of the row, from the pointers in j. The last part reads at `edge` if it is not
// NULL.
TAPER_TEMPLATE void column_of_two(const size_t count, const size_t half, two_rows *j, const parts *part,
                                  const uint8_t *edge, __m512i c[2])
{
    __m512i x[4];
    TAPER_UNROLL
    for (size_t r = 0; r < 4; r++)
        x[r] = take_edge(count, j->p[r], j->l.behind, part, edge);
    zip_half(half, x, c);
}

// Converts the previous outputs to bytes, and adds the columns a, b and c for the next outputs. c is the new column.
TAPER_TEMPLATE void next_of_two(const size_t count, const size_t half, const int plain, two_rows *j, const __m512i a[2],
                                const __m512i b[2], __m512i c[2])
{
    __m512i x[4];
    __m512 f[4];
    floats_of(j->s, f);
    TAPER_UNROLL
    for (size_t r = 0; r < 4; r++) {
        x[r] = take_behind(count, j->p[r], j->l.behind);
        j->p[r] += j->step;
    }
    zip_half(half, x, c);
    sums_of_two(count, j, a, b, c);
    put_two(count, half, plain, &j->l, f, j->to, j->to + j->c_row);
    j->to += j->c_stride;
}

TAPER_TEMPLATE void copy_column(const __m512i from[2], __m512i to[2])
{
    to[0] = from[0];
    to[1] = from[1];
}

// Computes the results of the four input rows at `a`, and stores the results at `to`.
TAPER_TEMPLATE void make_two(const size_t count, const size_t half, const int plain, two_rows *j, const parts *part,
                             const uint8_t *const *a, size_t c, const uint8_t *edge, uint8_t *to)
{
    __m512i r[3][2];
    j->to = to;
    TAPER_UNROLL
    for (size_t g = 0; g < 2; g++) { // loads the first two columns
        __m512i x[4];
        TAPER_UNROLL
        for (size_t i = 0; i < 4; i++)
            x[i] = first_column(count, part, a + 3 * i, g, j->step, c);
        zip_half(half, x, r[g]);
    }
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++)
        j->p[i] = a[3 * i + 2] + c;
    column_of_two(count, half, j, part, part->pixels == 1 ? edge : NULL, r[2]);
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++)
        j->p[i] += j->step;
    sums_of_two(count, j, r[0], r[1], r[2]);
    // Each round computes three columns, so that no column moves between variables. The last two columns end in r[1]
    // and r[2].
    for (size_t left = part->pixels - 1 - (edge != NULL && part->pixels > 1); left > 0; left--) {
        next_of_two(count, half, plain, j, r[1], r[2], r[0]);
        if (--left == 0) {
            copy_column(r[2], r[1]);
            copy_column(r[0], r[2]);
            break;
        }
        next_of_two(count, half, plain, j, r[2], r[0], r[1]);
        if (--left == 0) {
            copy_column(r[1], r[2]);
            copy_column(r[0], r[1]);
            break;
        }
        next_of_two(count, half, plain, j, r[0], r[1], r[2]);
    }
    __m512 f[4];
    floats_of(j->s, f);
    if (edge != NULL && part->pixels > 1) {
        column_of_two(count, half, j, part, edge, r[0]);
        sums_of_two(count, j, r[1], r[2], r[0]);
        put_two(count, half, plain, &j->l, f, j->to, j->to + j->c_row);
        j->to += j->c_stride;
        floats_of(j->s, f);
    }
    put_two(count, half, plain, &j->l, f, j->to, j->to + j->c_row);
}

TAPER_TEMPLATE void two(const size_t count, const size_t half, const int plain, const taper_dwconv_i8 *t, size_t c,
                        size_t n, size_t begin, size_t end)
{
    const parts part = cut(count, t->pixels);
    const uint8_t *const edge = t->edge != NULL ? t->edge + c : NULL;
    // Results are bytes, which may alias anything, so the job's fields are copied to local variables first.
    two_rows j = {.step = t->step, .c_stride = t->c_stride, .c_row = t->c_row};
    const uint8_t *const *a = t->a;
    uint8_t *const to = t->c + c;
    half_layer_of(count, half, t, c, n, &part, &j.l);
    TAPER_NO_UNROLL
    for (size_t row = begin; row < end; row += 2)
        make_two(count, half, plain, &j, &part, a + 3 * row, c, edge, to + row * j.c_row);
}

// ---- at most 16 channels, in four parts, whose pixels are put together once for all outputs

typedef struct quarters {
    __m512i w[3][4], below[3][4];
    __v16si bias[4];
    __m512 scale[4];
} quarters;

TAPER_TEMPLATE __m512i bytes_of_quarters(const int below, const quarters *l, __m512i r[3][4], i8_512_range range)
{
    __m512i y[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++) {
        __v16si s = l->bias[q];
        TAPER_UNROLL
        for (size_t x = 0; x < 3; x++)
            s = i8_512_dot(s, r[x][q], below ? l->below[x][q] : l->w[x][q]);
        y[q] = i8_512_scaled(s, l->scale[q]);
    }
    return i8_512_narrow(y[0], y[1], y[2], y[3], range);
}

TAPER_TEMPLATE void two_quarters(const taper_dwconv_i8 *t, size_t c, size_t n, const uint8_t *const *a, uint8_t *to)
{
    const i8_512_range range = i8_512_range_of(t->e.zero_point, t->e.min);
    const parts part = cut(MOST_PARTS, t->pixels);
    const uint8_t *const edge = t->edge != NULL ? t->edge + c : NULL;
    const size_t c_row = t->c_row, c_stride = t->c_stride, step = t->step;
    const __mmask64 mask = lowest(n);
    size_t behind[MOST_PARTS], y_behind[MOST_PARTS];
    const uint8_t *p[4];
    __m512i r[3][4], x[4];
    quarters l;
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++) {
        TAPER_UNROLL
        for (size_t k = 0; k < 3; k++) {
            l.w[k][q] = spread(MOST_PARTS, t->w + c * 12 + 16 * (4 * k + q));
            l.below[k][q] = _mm512_slli_epi32(l.w[k][q], 8);
        }
        l.bias[q] = (__v16si)spread(MOST_PARTS, t->e.bias + c + 4 * q);
        l.scale[q] = _mm512_castsi512_ps(spread(MOST_PARTS, t->e.scale + c + 4 * q));
    }
    TAPER_UNROLL
    for (size_t k = 0; k < MOST_PARTS; k++) {
        behind[k] = part.start[k] * step;
        y_behind[k] = part.start[k] * c_stride;
    }
    TAPER_UNROLL
    for (size_t g = 0; g < 2; g++) {
        TAPER_UNROLL
        for (size_t i = 0; i < 4; i++)
            x[i] = first_column(MOST_PARTS, &part, a + 3 * i, g, step, c);
        i8_512_zip(x[0], x[1], x[2], x[3], r[g + 1]);
    }
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++)
        p[i] = a[3 * i + 2] + c;
    TAPER_NO_UNROLL
    for (size_t i = 1; i <= part.pixels; i++, to += c_stride) {
        TAPER_UNROLL
        for (size_t k = 0; k < 4; k++) {
            x[k] = take_edge(MOST_PARTS, p[k], behind, &part, i == part.pixels ? edge : NULL);
            p[k] += step;
            r[0][k] = r[1][k];
            r[1][k] = r[2][k];
        }
        i8_512_zip(x[0], x[1], x[2], x[3], r[2]);
        put(MOST_PARTS, to, y_behind, bytes_of_quarters(0, &l, r, range), mask);
        put(MOST_PARTS, to + c_row, y_behind, bytes_of_quarters(1, &l, r, range), mask);
    }
}

#include "ops/kernels/x86/dwconv_i8_3x3s2_avx512.h"

// ---- loops over all channels

#define PIECES(name, ...)                                                                                              \
    size_t c = 0, n = t->channels;                                                                                     \
    for (; n > 32; c += 64, n -= n < 64 ? n : 64)                                                                      \
        name(1, __VA_ARGS__ t, c, n < 64 ? n : 64);                                                                    \
    if (n > 16) {                                                                                                      \
        name(2, __VA_ARGS__ t, c, n);                                                                                  \
    } else if (n > 0) {                                                                                                \
        name(4, __VA_ARGS__ t, c, n);                                                                                  \
    }

// Computes `rows` rows for one half of the channels, then for the other half. The inputs of the rows stay in the L1
// cache.
TAPER_TEMPLATE void all_rows(const size_t count, const int plain, const taper_dwconv_i8 *t, size_t c, size_t n)
{
    enum { ROWS_BYTES = 16384 };
    const size_t bytes = t->pixels * (64 / count), most = bytes < ROWS_BYTES / 4 ? ROWS_BYTES / bytes / 2 * 2 : 2;
    for (size_t begin = 0; begin < t->rows; begin += most) {
        const size_t end = t->rows - begin < most ? t->rows : begin + most;
        if (count == MOST_PARTS) {
            for (size_t row = begin; row < end; row += 2)
                two_quarters(t, c, n, t->a + 3 * row, t->c + c + row * t->c_row);
        } else {
            two(count, 0, plain, t, c, n, begin, end);
            two(count, 1, plain, t, c, n, begin, end);
        }
    }
}

TAPER_INSTANCE void rows_of(const taper_dwconv_i8 *t){PIECES(all_rows, 0, )}

TAPER_INSTANCE void plain_rows_of(const taper_dwconv_i8 *t){PIECES(all_rows, 1, )}

TAPER_INSTANCE void wide_row_of(const taper_dwconv_i8 *t)
{
    PIECES(wide, )
}

static void by_columns(const taper_dwconv_i8 *t)
{
    if (t->rows == 1) {
        wide_row_of(t);
    } else if (t->e.zero_point == 0 && t->e.min == 0) {
        plain_rows_of(t);
    } else {
        rows_of(t);
    }
}
