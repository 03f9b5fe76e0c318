// SPDX-License-Identifier: BSD-2-Clause
// Depthwise 3x3 of quantized numbers with stride 2, one row, written with the functions of dwconv_i8_3x3_avx512.h,
// which includes this file. A pixel's right column is the left column of the next pixel. All channels are computed
// together. Each output reads more inputs than with stride 1, and a third of the loads cross cache lines.

typedef struct wide_row {
    __m512i w[3][4];
    const int32_t *biases;
    const float *scales;
    const uint8_t *middle[3], *right[3]; // pointers to the middle and the right column of the next pixel, in three rows
    size_t step, behind[MOST_PARTS];
    __v16si s[4];
} wide_row;

TAPER_TEMPLATE void column_of_wide(const size_t count, wide_row *j, const uint8_t *p[3], __m512i r[4])
{
    __m512i x[3];
    TAPER_UNROLL
    for (size_t i = 0; i < 3; i++) {
        x[i] = take_behind(count, p[i], j->behind);
        p[i] += j->step;
    }
    i8_512_zip(x[0], x[1], x[2], _mm512_setzero_si512(), r);
}

// Computes the sums of the next pixel. Afterwards `left` contains the pixel's right column.
TAPER_TEMPLATE void sums_of_wide(const size_t count, wide_row *j, __m512i left[4])
{
    __m512i column[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        j->s[q] = i8_512_dot((__v16si)spread(count, j->biases + 16 / count * q), left[q], j->w[0][q]);
    column_of_wide(count, j, j->middle, column);
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        j->s[q] = i8_512_dot(j->s[q], column[q], j->w[1][q]);
    column_of_wide(count, j, j->right, left);
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        j->s[q] = i8_512_dot(j->s[q], left[q], j->w[2][q]);
}

TAPER_TEMPLATE void put_wide(const size_t count, const wide_row *j, const __m512 f[4], i8_512_range range,
                             const size_t y_behind[MOST_PARTS], uint8_t *to, __mmask64 mask)
{
    __m512i y[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++) {
        const __m512 scale = _mm512_castsi512_ps(spread(count, j->scales + 16 / count * q));
        y[q] = _mm512_cvtps_epi32(_mm512_mul_ps(f[q], scale));
    }
    put(count, to, y_behind, i8_512_narrow(y[0], y[1], y[2], y[3], range), mask);
}

TAPER_TEMPLATE void wide(const size_t count, const taper_dwconv_i8 *t, size_t c, size_t n)
{
    const i8_512_range range = i8_512_range_of(t->e.zero_point, t->e.min);
    const parts part = cut(count, t->pixels);
    const size_t c_stride = t->c_stride;
    const __mmask64 mask = lowest(n);
    uint8_t *to = t->c + c;
    wide_row j = {.step = t->step, .biases = t->e.bias + c, .scales = t->e.scale + c};
    size_t y_behind[MOST_PARTS];
    __m512i left[4], x[3];
    __m512 f[4];
    TAPER_UNROLL
    for (size_t k = 0; k < 12; k++)
        j.w[k / 4][k % 4] = spread(count, t->w + c * 12 + 64 / count * k);
    TAPER_UNROLL
    for (size_t k = 0; k < count; k++) {
        j.behind[k] = part.start[k] * t->step;
        y_behind[k] = part.start[k] * c_stride;
    }
    TAPER_UNROLL
    for (size_t r = 0; r < 3; r++) {
        const uint8_t *at[MOST_PARTS];
        TAPER_UNROLL
        for (size_t k = 0; k < count; k++)
            at[k] = (part.start[k] == 0 ? t->a[3 * r] : t->a[3 * r + 2] + (part.start[k] - 1) * t->step) + c;
        x[r] = take(count, at);
        j.middle[r] = t->a[3 * r + 1] + c;
        j.right[r] = t->a[3 * r + 2] + c;
    }
    i8_512_zip(x[0], x[1], x[2], _mm512_setzero_si512(), left);
    sums_of_wide(count, &j, left);
    TAPER_NO_UNROLL
    for (size_t i = 1; i < part.pixels; i++, to += c_stride) {
        floats_of(j.s, f);
        sums_of_wide(count, &j, left);
        put_wide(count, &j, f, range, y_behind, to, mask);
    }
    floats_of(j.s, f);
    put_wide(count, &j, f, range, y_behind, to, mask);
}
