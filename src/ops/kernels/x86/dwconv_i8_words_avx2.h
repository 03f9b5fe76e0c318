// SPDX-License-Identifier: BSD-2-Clause
// The body of the AVX2 depthwise kernel of quantized numbers for one width of register, in the words of simd_i8_x86.h
// (included before, as often as this is). The including file defines I8(store)(to, register, count).

// Two taps at a and b.
TAPER_TEMPLATE void I8(two_taps)(Q a, Q b, const int8_t *w, S acc[4])
{
    const Q none = B(setzero)(), low = P(unpacklo_epi8)(a, b), high = P(unpackhi_epi8)(a, b);
    const Q x[4] = {P(unpacklo_epi8)(low, none), P(unpackhi_epi8)(low, none), P(unpacklo_epi8)(high, none),
                    P(unpackhi_epi8)(high, none)};
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        acc[q] = (S)P(add_epi32)((Q)acc[q], P(madd_epi16)(x[q], I8(load)(w + I8_BYTES * q)));
}

// Channels [c, c + n) of one pixel, n <= I8_BYTES; at: of the pixel's first channel behind the pointers. taps is a
// constant for the usual kernels.
TAPER_TEMPLATE void I8(piece)(const size_t taps, const taper_dwconv_i8 *t, size_t at, size_t c, size_t n,
                              I8(range) range, uint8_t *to)
{
    const int8_t *w = t->w + c * ((taps + 1) / 2 * 4);
    const uint8_t *const *a = t->a;
    S acc[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        acc[q] = I8(load_sums)(t->e.bias + c + LANES * q);
    at += c;
    if (taps == 9) {
        TAPER_UNROLL
        for (size_t k = 0; k < 8; k += 2)
            I8(two_taps)(I8(load)(a[k] + at), I8(load)(a[k + 1] + at), w + 2 * I8_BYTES * k, acc);
        I8(two_taps)(I8(load)(a[8] + at), B(setzero)(), w + 16 * I8_BYTES, acc);
    } else {
        TAPER_NO_UNROLL
        for (size_t k = taps; k >= 2; k -= 2, a += 2, w += 4 * I8_BYTES)
            I8(two_taps)(I8(load)(a[0] + at), I8(load)(a[1] + at), w, acc);
        if (taps % 2 == 1)
            I8(two_taps)(I8(load)(a[0] + at), B(setzero)(), w, acc);
    }
    Q y[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        y[q] = I8(scaled)(acc[q], P(loadu_ps)(t->e.scale + c + LANES * q));
    I8(store)(to + c, I8(narrow)(y[0], y[1], y[2], y[3], range), n);
}
