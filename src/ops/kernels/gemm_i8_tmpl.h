// SPDX-License-Identifier: BSD-2-Clause
// The body of the x86 and WebAssembly gemm kernels for quantized numbers, written with the macros of simd_i8_x86.h: up
// to MR_MAX rows by NR = two registers of columns. For four k there are two loads of weights, and one broadcast per
// row. The including file defines MR_MAX, store_rows() (two rows of bytes, at most NR columns) and store_floats(). To
// compute panels of a vector and a half faster, it may define HALVES, I8(twice…), I8(halves) and store_halves(). With
// OWN_PRODUCTS it adds the methods BYTES and WORDS to PLAIN, the method of adding products that this file contains;
// then run_strip() and way_of_windows() choose one for a job, and gemm_i8_pairs_avx2.h has the functions.
#include "ops/kernels/gemm_i8.h"

#define NR (2 * LANES)

// Weights come from memory once per run of a network, so all lines of a row are prefetched 8 KB ahead, as in
// gemm_f32_avx512.c.
#define FETCH(w)                                                                                                       \
    do {                                                                                                               \
        _mm_prefetch((const char *)(w) + 8192, _MM_HINT_T0);                                                           \
        if (4 * NR > 64)                                                                                               \
            _mm_prefetch((const char *)(w) + 8192 + 64, _MM_HINT_T0);                                                  \
    } while (0)

// Stores columns [column, column + n) as floats.
TAPER_TEMPLATE void finish_floats(const size_t mr, const size_t nv, const taper_gemm_i8 *t, size_t column, size_t n,
                                  S acc[MR_MAX][2])
{
    F scale[2];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        scale[j] = P(loadu_ps)(t->e.scale + column + LANES * j);
    const F floor = P(set1_ps)(t->e.floor);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const F y = P(add_ps)(P(mul_ps)(P(cvtepi32_ps)((Q)acc[i][j]), scale[j]),
                                  P(loadu_ps)(t->e.shift + column + LANES * j));
            if (n > LANES * j) // can be false only in builds for size, which have no tile of one vector
                store_floats((float *)t->c + TAPER_ROW(i, mr, t->mr) * t->c_stride + column + LANES * j,
                             P(max_ps)(floor, y), n - LANES * j < LANES ? n - LANES * j : LANES);
        }
    }
}

// Stores columns [column, column + n) as bytes, for rows from `row` on.
TAPER_TEMPLATE void finish_bytes(const size_t mr, const size_t nv, const taper_gemm_i8 *t, size_t row, size_t column,
                                 size_t n, S acc[MR_MAX][2])
{
    F scale[2];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        scale[j] = P(loadu_ps)(t->e.scale + column + LANES * j);
    const I8(range) range = I8(range_of)(t->e.zero_point, t->e.min);
    uint8_t *c = (uint8_t *)t->c + row * t->c_stride + column;
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += 2) {
        const size_t other = i + 1 < mr ? i + 1 : i;
        Q r[4];
        TAPER_UNROLL
        for (size_t j = 0; j < 2; j++) {
            r[j] = I8(scaled)(acc[i][j < nv ? j : 0], scale[j < nv ? j : 0]);
            r[2 + j] = I8(scaled)(acc[other][j < nv ? j : 0], scale[j < nv ? j : 0]);
        }
        store_rows(c + i * t->c_stride, c + TAPER_ROW(other, mr, t->mr) * t->c_stride,
                   I8(narrow)(r[0], r[1], r[2], r[3], range), n);
    }
}

TAPER_TEMPLATE void finish(const size_t mr, const size_t nv, const taper_gemm_i8 *t, size_t column, size_t n,
                           S acc[MR_MAX][2])
{
    if (t->e.shift != NULL) {
        finish_floats(mr, nv, t, column, n, acc);
    } else {
        finish_bytes(mr, nv, t, 0, column, n, acc);
    }
}

#ifdef OWN_PRODUCTS
#define MARK_BYTES(groups) taper_gemm_i8_marks(TAPER_I8_OF_STEPS, groups)
#else
#define MARK_BYTES(groups) 0
enum { PLAIN }; // methods of adding products; OWN_PRODUCTS adds more methods
typedef struct adding {
    char none;
} adding; // parameters of a method of adding products
#endif

// Adds the products of a tap's groups. Returns the address after their weights. A single row has ku partial sums,
// because the latency of the dot product would limit one sum.
TAPER_TEMPLATE const int8_t *add_products(const size_t mr, const size_t nv, const size_t ku, const uint8_t *const *p,
                                          const int8_t *w, size_t groups, S acc[MR_MAX][2], S part[3][2])
{
    size_t k = 0;
    if (ku > 1) {
        for (; k + ku <= groups; k += ku) {
            TAPER_UNROLL
            for (size_t u = 0; u < ku; u++) {
                FETCH(w + 4 * NR * u);
                const Q x = I8(four)(p[0] + 4 * (k + u));
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++) {
                    S *sum = u == 0 ? &acc[0][j] : &part[u - 1][j];
                    *sum = I8(dot)(*sum, x, I8(load)(w + 4 * NR * u + I8_BYTES * j));
                }
            }
            w += 4 * NR * ku;
        }
    }
    TAPER_NO_UNROLL
    for (; k < groups; k++) {
        Q b[2];
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            b[j] = I8(load)(w + I8_BYTES * j);
        FETCH(w);
        w += 4 * NR;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const Q x = I8(four)(p[i] + 4 * k);
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = I8(dot)(acc[i][j], x, b[j]);
        }
    }
    return w;
}

TAPER_TEMPLATE void tile(const size_t kind, const size_t mr, const size_t nv, const taper_gemm_i8 *t, const adding *way,
                         const int8_t *w, size_t column, size_t n)
{
    const size_t ku = mr == 1 && kind == PLAIN ? 4 : 1;
    S acc[MR_MAX][2], part[3][2];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const S bias = I8(load_sums)(t->e.bias + column + LANES * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = bias;
        TAPER_UNROLL
        for (size_t u = 1; u < ku; u++)
            part[u - 1][j] = (S)B(setzero)();
    }
    const size_t groups = (t->kc + 3) / 4;
    const uint8_t *const *a = t->a;
#ifdef OWN_PRODUCTS
    if (kind == BYTES && __builtin_expect(way->high_count > 0, 0)) {
        S sums[MR_MAX][2]; // a copy, so that the tile's own sums stay in registers
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                sums[i][j] = acc[i][j];
        }
        add_highs(nv, way, w, sums);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = sums[i][j];
        }
    }
#endif
    (void)way;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        const uint8_t *p[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            p[i] = a[TAPER_ROW(i, mr, t->mr)] + t->a_offset;
#ifdef OWN_PRODUCTS
        if (kind != PLAIN) { // methods other than PLAIN are only for jobs of one tap
            if (kind == WORDS) {
                add_words(mr, nv, p, w, groups, acc);
            } else {
                (void)add_bytes(mr, nv, p, w, 0, groups, (const uint8_t *)w + groups * GROUP_BYTES, way->shift, acc);
            }
            break;
        }
#endif
        w = add_products(mr, nv, ku, p, w, groups, acc, part);
    }
    TAPER_UNROLL
    for (size_t u = 1; u < ku; u++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            acc[0][j] = (S)P(add_epi32)((Q)acc[0][j], (Q)part[u - 1][j]);
    }
    finish(mr, nv, t, column, n, acc);
}

#ifdef HALVES
enum { LEAST_OF_HALVES = 12 }; // smallest number of rows for which half_tile is faster than tile
// Computes n columns of bytes: more than one register of columns, and at most one and a half registers. The halves of
// two rows share a register, so three registers do the work of four.
TAPER_TEMPLATE void half_tile(const size_t mr, const taper_gemm_i8 *t, const int8_t *w, size_t column, size_t n)
{
    S acc[MR_MAX], half[(MR_MAX + 1) / 2];
    const S bias = I8(load_sums)(t->e.bias + column), bias_half = I8(twice_sums)(t->e.bias + column + LANES);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        acc[i] = bias;
        half[i / 2] = bias_half;
    }
    const size_t groups = (t->kc + 3) / 4;
    const uint8_t *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        const uint8_t *p[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            p[i] = a[i] + t->a_offset;
        TAPER_NO_UNROLL
        for (size_t k = 0; k < groups; k++, w += 4 * NR) {
            const Q b = I8(load)(w), b_half = I8(twice)(w + I8_BYTES);
            Q x[2];
            FETCH(w);
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                x[i % 2] = I8(four)(p[i] + 4 * k);
                acc[i] = I8(dot)(acc[i], x[i % 2], b);
                if (i % 2 == 1 || i + 1 == mr)
                    half[i / 2] = I8(dot)(half[i / 2], I8(halves)(x[0], x[i % 2]), b_half);
            }
        }
    }
    const F scale = P(loadu_ps)(t->e.scale + column), scale_half = I8(twice_scales)(t->e.scale + column + LANES);
    const I8(range) range = I8(range_of)(t->e.zero_point, t->e.min);
    const size_t c_stride = t->c_stride;
    uint8_t *c = (uint8_t *)t->c + column;
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += 4) {
        const size_t rows = mr - i < 4 ? mr - i : 4, second = i / 2 + (rows > 2);
        Q r[4];
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            r[j] = I8(scaled)(acc[j < rows ? i + j : i], scale);
        const Q h0 = I8(scaled)(half[i / 2], scale_half), h1 = I8(scaled)(half[second], scale_half);
        store_halves(rows, c + i * c_stride, c_stride, I8(narrow)(r[0], r[1], r[2], r[3], range),
                     I8(narrow)(h0, h1, h0, h1, range), n - LANES);
    }
}
#endif

#include "ops/kernels/gemm_i8_strip_tmpl.h"

#define STRIP_AS(kind, mr)                                                                                             \
    TAPER_INSTANCE void strip_##kind##_##mr(const taper_gemm_i8 *t, const adding *way)                                 \
    {                                                                                                                  \
        strip(kind, mr, t, way);                                                                                       \
    }
#define STRIP_NAME_AS(kind, mr) strip_##kind##_##mr,
#ifdef OWN_PRODUCTS
#define STRIP(mr) STRIP_AS(PLAIN, mr) STRIP_AS(BYTES, mr) STRIP_AS(WORDS, mr)
#define STRIP_NAMES(mr) {STRIP_NAME_AS(PLAIN, mr) STRIP_NAME_AS(BYTES, mr) STRIP_NAME_AS(WORDS, mr)},
#define STRIP_KINDS 3
#else
#define STRIP(mr) STRIP_AS(PLAIN, mr)
#define STRIP_NAMES(mr) {STRIP_NAME_AS(PLAIN, mr)},
#define STRIP_KINDS 1
#define run_strip(job, functions) (functions)[PLAIN](job, NULL)
#endif
// Defines the kernel. EACH_MR(X) is X(1) ... X(MR_MAX), in small builds X(1), X(2) and the even numbers.
#define GEMM_I8(name)                                                                                                  \
    EACH_MR(STRIP)                                                                                                     \
    static void (*const strips[][STRIP_KINDS])(const taper_gemm_i8 *t, const adding *way) = {EACH_MR(STRIP_NAMES)};    \
    void taper_gemm_i8_##name(const taper_gemm_i8 *job)                                                                \
    {                                                                                                                  \
        if (job->nc > 0)                                                                                               \
            run_strip(job, strips[TAPER_STRIP(job->mr)]);                                                              \
    }

#include "ops/kernels/gemm_i8_windows_tmpl.h"
