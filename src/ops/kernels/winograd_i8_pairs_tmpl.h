// SPDX-License-Identifier: BSD-2-Clause
// The products of winograd_i8.h if an instruction adds products of pairs. Two inputs need two loads of weights, and a
// broadcast of a pair of inputs for each row. The code is written with the macros of simd_i8_x86.h and with dot_words,
// which the including file defines. A tile has two vectors of columns.

// Computes a tile of mr rows. Every third row has a pointer, which also gives the addresses of the two rows after it.
TAPER_TEMPLATE void product_tile(const size_t mr, const taper_winograd_i8_product *t, const int16_t *w, int32_t *c,
                                 const char *next, size_t asked)
{
    enum { OF_A_POINTER = 3, POINTERS = (MR_MAX + OF_A_POINTER - 1) / OF_A_POINTER };
    S acc[MR_MAX][2];
    const char *p[POINTERS];
    const size_t step = t->depth * sizeof *t->a;
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        acc[i][0] = acc[i][1] = (S)B(setzero)();
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += OF_A_POINTER)
        p[i / OF_A_POINTER] = (const char *)t->a + i * step;
    TAPER_NO_UNROLL
    for (size_t k = t->depth / 2; k > 0; k--, w += 2 * NR, next += asked) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            __asm__("" : "+r"(p[i / OF_A_POINTER])); // keeps compilers from making a pointer for each row
        const Q b[2] = {I8(load)(w), I8(load)(w + NR)};
        _mm_prefetch(next, _MM_HINT_T0);
        if (4 * NR > 64)
            _mm_prefetch(next + 64, _MM_HINT_T0);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const Q x = I8(four)((const uint8_t *)p[i / OF_A_POINTER] + i % OF_A_POINTER * step);
            acc[i][0] = dot_words(acc[i][0], x, b[0]);
            acc[i][1] = dot_words(acc[i][1], x, b[1]);
        }
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            p[i / OF_A_POINTER] += 4;
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        B(storeu)((Q *)(void *)(c + i * t->c_stride), (Q)acc[i][0]);
        B(storeu)((Q *)(void *)(c + i * t->c_stride + LANES), (Q)acc[i][1]);
    }
}
