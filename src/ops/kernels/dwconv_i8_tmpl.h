// SPDX-License-Identifier: BSD-2-Clause
// The body of the x86 and WebAssembly depthwise kernels of quantized numbers for one width of register, in the words of
// simd_i8_x86.h (included before, as often as this is). I8_BYTES channels at a time: the bytes of four taps are brought
// side by side by two steps of unpacking, after which a dot product adds four taps to each of 4 x LANES sums. The
// including file defines I8(store)(to, register, count), and DW_COLUMNS if it wants 3x3 by columns.

// r[q]: per 32 bits a channel's bytes of four taps.
TAPER_TEMPLATE void I8(zip)(Q a0, Q a1, Q a2, Q a3, Q r[4])
{
    const Q x = P(unpacklo_epi8)(a0, a1), y = P(unpackhi_epi8)(a0, a1);
    const Q u = P(unpacklo_epi8)(a2, a3), v = P(unpackhi_epi8)(a2, a3);
    r[0] = P(unpacklo_epi16)(x, u);
    r[1] = P(unpackhi_epi16)(x, u);
    r[2] = P(unpacklo_epi16)(y, v);
    r[3] = P(unpackhi_epi16)(y, v);
}

// Four taps, of which `count` exist, at byte `at` behind their pointers.
TAPER_TEMPLATE void I8(taps)(const size_t count, const uint8_t *const *a, size_t at, const int8_t *w, S acc[4])
{
    const Q none = B(setzero)();
    Q r[4];
    I8(zip)
    (I8(load)(a[0] + at), count > 1 ? I8(load)(a[1] + at) : none, count > 2 ? I8(load)(a[2] + at) : none,
     count > 3 ? I8(load)(a[3] + at) : none, r);
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        acc[q] = I8(dot)(acc[q], r[q], I8(load)(w + I8_BYTES * q));
}

// Channels [c, c + n) of one pixel, n <= I8_BYTES; at: of the pixel's first channel behind the pointers. taps is a
// constant for the usual kernels.
TAPER_TEMPLATE void I8(piece)(const size_t taps, const taper_dwconv_i8 *t, size_t at, size_t c, size_t n,
                              I8(range) range, uint8_t *to)
{
    const int8_t *w = t->w + c * ((taps + 3) / 4 * 4);
    const uint8_t *const *a = t->a;
    S acc[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        acc[q] = I8(load_sums)(t->e.bias + c + LANES * q);
    at += c;
    if (taps == 9) {
        I8(taps)(4, a, at, w, acc);
        I8(taps)(4, a + 4, at, w + 4 * I8_BYTES, acc);
        I8(taps)(1, a + 8, at, w + 8 * I8_BYTES, acc);
    } else {
        TAPER_NO_UNROLL
        for (size_t k = taps; k >= 4; k -= 4, a += 4, w += 4 * I8_BYTES)
            I8(taps)(4, a, at, w, acc);
        if (taps % 4 == 1) {
            I8(taps)(1, a, at, w, acc);
        } else if (taps % 4 == 2) {
            I8(taps)(2, a, at, w, acc);
        } else if (taps % 4 == 3) {
            I8(taps)(3, a, at, w, acc);
        }
    }
    Q y[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        y[q] = I8(scaled)(acc[q], P(loadu_ps)(t->e.scale + c + LANES * q));
    I8(store)(to + c, I8(narrow)(y[0], y[1], y[2], y[3], range), n);
}

#ifdef DW_COLUMNS
// ---- 3x3 by columns, whose pixels are brought side by side once for all outputs that they are part of

// Weights of column x in the order of the packed ones, four for each place: of its three taps and zero.
TAPER_TEMPLATE void I8(columns)(const int8_t *w, Q to[3][4])
{
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++) {
        const Q a = I8(load)(w + I8_BYTES * q), b = I8(load)(w + I8_BYTES * (4 + q));
        const Q c = I8(load)(w + I8_BYTES * (8 + q)), byte = P(set1_epi32)(0xFF), second = P(set1_epi32)(0xFF00);
        const Q third = P(set1_epi32)(0xFF0000);
        // Taps 0 to 3 are a's bytes, 4 to 7 b's, 8 c's.
        to[0][q] = B(or)(B(or)(B(and)(a, byte), B(and)(P(srli_epi32)(a, 16), second)), B(and)(b, third));
        to[1][q] = B(or)(B(or)(B(and)(P(srli_epi32)(a, 8), byte), B(and)(P(slli_epi32)(b, 8), second)),
                         B(and)(P(srli_epi32)(b, 8), third));
        to[2][q] =
            B(or)(B(or)(B(and)(P(srli_epi32)(a, 16), byte), B(and)(b, second)), B(and)(P(slli_epi32)(c, 16), third));
    }
}

// Stride 1, two rows: four pixels of a column are the right, middle and left one's of three outputs; a byte further
// down they are the second row's. Adds a column to the sums of the output it is the right one of, to those of the next,
// and begins the one behind.
TAPER_TEMPLATE void I8(column)(const uint8_t *const p[4], const Q w[3][4], const int32_t *bias, S right[2][4],
                               S middle[2][4], S left[2][4])
{
    Q r[4];
    I8(zip)(I8(load)(p[0]), I8(load)(p[1]), I8(load)(p[2]), I8(load)(p[3]), r);
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++) {
        const Q below = P(srli_epi32)(r[q], 8);
        const S start = I8(load_sums)(bias + LANES * q);
        right[0][q] = I8(dot)(right[0][q], r[q], w[2][q]);
        right[1][q] = I8(dot)(right[1][q], below, w[2][q]);
        middle[0][q] = I8(dot)(middle[0][q], r[q], w[1][q]);
        middle[1][q] = I8(dot)(middle[1][q], below, w[1][q]);
        left[0][q] = I8(dot)(start, r[q], w[0][q]);
        left[1][q] = I8(dot)(start, below, w[0][q]);
    }
}

TAPER_TEMPLATE void I8(two)(const taper_dwconv_i8 *t, size_t c, size_t n, I8(range) range)
{
    // Results are bytes, which might be anything: what the loop reads of the job is read before.
    const int32_t *const bias = t->e.bias + c;
    const float *const scale = t->e.scale + c;
    const size_t pixels = t->pixels, step = t->step, c_stride = t->c_stride, c_row = t->c_row;
    const uint8_t *const edge = t->edge;
    const uint8_t *p[4];
    uint8_t *to = t->c + c;
    Q w[3][4];
    S sums[3][2][4]; // of the output that the column is the right one of, of the next, of the one behind
    I8(columns)(t->w + c * 12, w);
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        sums[1][0][q] = sums[1][1][q] = sums[2][0][q] = sums[2][1][q] = (S)B(setzero)();
    TAPER_UNROLL
    for (size_t x = 0; x < 3; x++) { // of the first pixel
        TAPER_UNROLL
        for (size_t r = 0; r < 4; r++)
            p[r] = t->a[3 * r + x] + c;
        if (x < 2) {
            TAPER_UNROLL
            for (size_t i = 0; i < 8; i++) {
                sums[0][i / 4][i % 4] = sums[1][i / 4][i % 4];
                sums[1][i / 4][i % 4] = sums[2][i / 4][i % 4];
            }
            I8(column)(p, (const Q(*)[4])w, bias, sums[0], sums[1], sums[2]);
        }
    }
    TAPER_NO_UNROLL
    for (size_t i = 1; i <= pixels; i++, to += c_stride) {
        if (edge != NULL && i == pixels) {
            TAPER_UNROLL
            for (size_t r = 0; r < 4; r++)
                p[r] = edge + c;
        }
        TAPER_UNROLL
        for (size_t k = 0; k < 8; k++) {
            sums[0][k / 4][k % 4] = sums[1][k / 4][k % 4];
            sums[1][k / 4][k % 4] = sums[2][k / 4][k % 4];
        }
        I8(column)(p, (const Q(*)[4])w, bias, sums[0], sums[1], sums[2]);
        TAPER_UNROLL
        for (size_t r = 0; r < 2; r++) {
            Q y[4];
            TAPER_UNROLL
            for (size_t q = 0; q < 4; q++)
                y[q] = I8(scaled)(sums[0][r][q], P(loadu_ps)(scale + LANES * q));
            I8(store)(to + r * c_row, I8(narrow)(y[0], y[1], y[2], y[3], range), n);
        }
        TAPER_UNROLL
        for (size_t r = 0; r < 4; r++)
            p[r] += step;
    }
}

// Stride 2, one row: a pixel's right column is the next one's left.
TAPER_TEMPLATE void I8(wide)(const taper_dwconv_i8 *t, size_t c, size_t n, I8(range) range)
{
    const int32_t *const bias = t->e.bias + c;
    const float *const scale = t->e.scale + c;
    const size_t pixels = t->pixels, step = t->step, c_stride = t->c_stride;
    const Q none = B(setzero)();
    const uint8_t *p[3][2]; // middle and right
    uint8_t *to = t->c + c;
    Q w[3][4], left[4];
    I8(columns)(t->w + c * 12, w);
    TAPER_UNROLL
    for (size_t r = 0; r < 3; r++) {
        p[r][0] = t->a[3 * r + 1] + c;
        p[r][1] = t->a[3 * r + 2] + c;
    }
    I8(zip)(I8(load)(t->a[0] + c), I8(load)(t->a[3] + c), I8(load)(t->a[6] + c), none, left);
    TAPER_NO_UNROLL
    for (size_t i = 0; i < pixels; i++, to += c_stride) {
        Q middle[4], right[4], y[4];
        I8(zip)(I8(load)(p[0][0]), I8(load)(p[1][0]), I8(load)(p[2][0]), none, middle);
        I8(zip)(I8(load)(p[0][1]), I8(load)(p[1][1]), I8(load)(p[2][1]), none, right);
        TAPER_UNROLL
        for (size_t q = 0; q < 4; q++) {
            S sum = I8(dot)(I8(load_sums)(bias + LANES * q), left[q], w[0][q]);
            sum = I8(dot)(I8(dot)(sum, middle[q], w[1][q]), right[q], w[2][q]);
            y[q] = I8(scaled)(sum, P(loadu_ps)(scale + LANES * q));
            left[q] = right[q];
        }
        I8(store)(to, I8(narrow)(y[0], y[1], y[2], y[3], range), n);
        TAPER_UNROLL
        for (size_t r = 0; r < 3; r++) {
            p[r][0] += step;
            p[r][1] += step;
        }
    }
}
#endif
