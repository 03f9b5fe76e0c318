// SPDX-License-Identifier: BSD-2-Clause
// The functions that dwconv_i8_tmpl.h needs for weights of 16 bits, written with the macros of simd_i8_x86.h. Include
// it after that file, once for each width. Two steps of unpacking bring the bytes of two taps next to each other,
// extended to 16 bits. Then a multiplication adds two taps to each of 4 x LANES sums.

#undef OWN_SUMS
#undef PLACE_BYTES
#define OWN_SUMS
#define PLACE_BYTES(taps) (((taps) + 1) / 2 * 4)

TAPER_TEMPLATE void I8(two_taps)(Q a, Q b, const int8_t *w, S acc[4])
{
    const Q none = B(setzero)(), low = P(unpacklo_epi8)(a, b), high = P(unpackhi_epi8)(a, b);
    const Q x[4] = {P(unpacklo_epi8)(low, none), P(unpackhi_epi8)(low, none), P(unpacklo_epi8)(high, none),
                    P(unpackhi_epi8)(high, none)};
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        acc[q] = (S)P(add_epi32)((Q)acc[q], P(madd_epi16)(x[q], I8(load)(w + I8_BYTES * q)));
}

TAPER_TEMPLATE void I8(sums)(const size_t taps, const uint8_t *const *a, size_t at, const int8_t *w, S acc[4])
{
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
}
