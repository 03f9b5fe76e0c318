// SPDX-License-Identifier: BSD-2-Clause
// The body of the x86 and WebAssembly depthwise kernels of quantized numbers for one register width, written with the
// macros of simd_i8_x86.h. Include it after that file, once for each width. It computes I8_BYTES channels at a time.
// Two steps of unpacking bring the bytes of four taps next to each other, then a dot product adds four taps to each of
// 4 x LANES sums. The including file defines I8(store)(to, register, count), and I8_COLUMNS, which says if 3x3 kernels
// are packed by columns. If weights are in another order, it defines OWN_SUMS, I8(sums)() and PLACE_BYTES(taps).

#ifndef OWN_SUMS
#include "ops/kernels/simd_i8_zip.h"

#undef PLACE_BYTES
#define PLACE_BYTES(taps) (((taps) + 3) / 4 * 4)

// Adds four taps, of which `count` exist. The inputs of the taps are `at` bytes after the tap pointers.
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

// Adds all taps for the channels of a piece, whose first one is at byte `at`. taps is a constant for 3x3.
TAPER_TEMPLATE void I8(sums)(const size_t taps, const uint8_t *const *a, size_t at, const int8_t *w, S acc[4])
{
    if (taps == 9 && I8_COLUMNS) {
        TAPER_UNROLL
        for (size_t x = 0; x < 3; x++) {
            const uint8_t *const column[] = {a[x], a[x + 3], a[x + 6]};
            I8(taps)(3, column, at, w + 4 * I8_BYTES * x, acc);
        }
    } else if (taps == 9) {
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
}
#endif

// Computes channels [c, c + n) of one pixel, n <= I8_BYTES. `at` is the number of bytes from the tap pointers to the
// pixel's first channel. taps is a constant for 3x3.
TAPER_TEMPLATE void I8(piece)(const size_t taps, const taper_dwconv_i8 *t, size_t at, size_t c, size_t n,
                              I8(range) range, uint8_t *to)
{
    const int8_t *w = t->w + c * PLACE_BYTES(taps);
    S acc[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        acc[q] = I8(load_sums)(t->e.bias + c + LANES * q);
    I8(sums)(taps, t->a, at + c, w, acc);
    Q y[4];
    TAPER_UNROLL
    for (size_t q = 0; q < 4; q++)
        y[q] = I8(scaled)(acc[q], P(loadu_ps)(t->e.scale + c + LANES * q));
    I8(store)(to + c, I8(narrow)(y[0], y[1], y[2], y[3], range), n);
}
