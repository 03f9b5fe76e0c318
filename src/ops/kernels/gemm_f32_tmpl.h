// SPDX-License-Identifier: BSD-2-Clause
// The body of the gemm and igemm kernels of floats, written with the functions of simd_scalar.h. The including file
// defines
//   MR_MAX       rows of the largest tile; a tile has two vectors of columns
//   EACH_MR(X)   X(1) X(2) … X(MR_MAX); in builds for size X(1), X(2) and the even ones
//   SPLIT        partial sums of a tile of one row, because the latency of the FMA would limit a single sum
//   FETCH(w, ahead)   prefetches weights `ahead` bytes ahead; FETCH_AHEAD is the usual distance
//   FETCH_SUMMAND(p)  optional: prefetches a row of the summand of a tile
//   EACH_EVEN_MR(X)   optional: X(LEAST_EVEN) … X(MR_MAX), tiles with special code for rows of A at equal distances,
//                as in gemm
//   HALVES       optional, for panels that have a vector and a half, with v_twice(p), half a vector in both halves;
//                v_halves(a, b), the lower half of a and the upper half of b; v_whole(a, b), the lower halves;
//                v_store_halves(lower, upper, x, lanes)
//   TOGETHER     number of k in one turn of the loop, for rows of A at equal distances; the default is 1
//   TRIPLES      optional, for the last 24 columns: a tile of three vectors instead of one that has only one vector
// and, if it has a faster way to add products, OWN_PRODUCTS and add_products(). gemm_f32_scalar.c does not use this
// body, because it is the reference that the other kernels are compared with.
#include <math.h>

#include "ops/kernels/gemm_f32.h"
#include "ops/kernels/gemm_f32_ahead.h"

#define NR (2 * VN)
#ifndef TOGETHER
#define TOGETHER 1
#endif

typedef struct call {
    size_t mr, nc, kc, ks;
    const float *const *a;
    size_t a_tap_stride, a_offset;
    const float *zero, *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
    size_t ahead; // prefetch distance in bytes, for FETCH
#ifdef EACH_EVEN_MR
    // Tiles of rows at equal distances have no pointers. They use the address of the first row and the number of floats
    // from row to row.
    const float *rows;
    size_t row_step;
#define NO_ROWS , NULL, 0
#else
#define NO_ROWS
#endif
} call;

#ifndef OWN_PRODUCTS
// Adds the products of kc elements of each row p[i] to acc. The products of the first row are distributed over acc and
// the ku - 1 partial sums in `part`. Returns the address after the weights that it used.
TAPER_TEMPLATE const float *add_products(const size_t mr, const size_t nv, const size_t ku, const float **p,
                                         const float *w, size_t kc, size_t ahead, V acc[MR_MAX][2], V part[SPLIT][2])
{
    size_t k = 0;
    if (ku > 1) {
        for (; k + ku <= kc; k += ku) {
            TAPER_UNROLL
            for (size_t u = 0; u < ku; u++) {
                FETCH(w + NR * u, ahead);
                const V x = v_set(p[0][k + u]);
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++) {
                    V *sum = u == 0 ? &acc[0][j] : &part[u - 1][j];
                    *sum = v_fma(x, v_load(w + NR * u + VN * j), *sum);
                }
            }
            w += NR * ku;
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        p[i] += kc;
    TAPER_NO_UNROLL
    for (ptrdiff_t q = (ptrdiff_t)(k - kc); q < 0; q++) { // counting up to zero saves a register
        V b[2];
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            b[j] = v_load(w + VN * j);
        FETCH(w, ahead);
        w += NR;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const V x = v_set(p[i][q]);
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = v_fma(x, b[j], acc[i][j]);
        }
    }
    return w;
}
#endif

#ifdef EACH_EVEN_MR
enum { OF_A_POINTER = 3, POINTERS = (MR_MAX + OF_A_POINTER - 1) / OF_A_POINTER };

TAPER_TEMPLATE bool is_even(const size_t mr, const float *const *p)
{
    const ptrdiff_t step = p[1] - p[0];
    bool even = true;
    TAPER_UNROLL
    for (size_t i = 2; i < mr; i++)
        even &= p[i] - p[i - 1] == step;
    return even;
}

// Does the work of add_products for one vector and rows at equal distances. The loop takes one load per product, so
// pointers that do not fit into registers would double the number of loads.
TAPER_TEMPLATE const float *add_even_products(const size_t mr, const float *first, ptrdiff_t step, const float *w,
                                              size_t kc, V acc[MR_MAX][2])
{
    const float *p[POINTERS];
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += OF_A_POINTER)
        p[i / OF_A_POINTER] = first + (ptrdiff_t)i * step;
    TAPER_NO_UNROLL
    for (size_t k = 0; k < kc; k++) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            __asm__("" : "+r"(p[i / OF_A_POINTER])); // avoids a pointer for each row, see even_tile
        const V b = v_load(w);
        w += NR;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][0] = v_fma(v_set(p[i / OF_A_POINTER][(ptrdiff_t)(i % OF_A_POINTER) * step]), b, acc[i][0]);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            p[i / OF_A_POINTER]++;
    }
    return w;
}
#endif

TAPER_TEMPLATE void begin_tile(const size_t mr, const size_t nv, const float *w, V acc[MR_MAX][2])
{
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const V bias = v_load(w + VN * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = bias;
    }
}

// Adds the summand, clamps, and stores the first `real` rows of a tile.
TAPER_TEMPLATE void end_tile(const size_t mr, const size_t nv, size_t real, const taper_gemm_epilogue *e, float *c,
                             size_t c_stride, const float *add, VT t0, VT t1, V acc[MR_MAX][2])
{
    (void)real;
    if (add != NULL) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = v_add(acc[i][j], v_load_t(add + VN * j, j == 0 ? t0 : t1));
            add += TAPER_ROW_STEP(i, mr, real, e->add_stride);
        }
    }
    // A clamp takes as long as two steps of k, so it is skipped if it has no bounds.
    if (e->min > -INFINITY || e->max < INFINITY) {
        const V low = v_set(e->min), high = v_set(e->max);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL // with this order of operands a NaN stays NaN
                for (size_t j = 0; j < nv; j++) acc[i][j] = v_min(high, v_max(low, acc[i][j]));
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            v_store_t(c + VN * j, acc[i][j], j == 0 ? t0 : t1);
        c += TAPER_ROW_STEP(i, mr, real, c_stride);
    }
}

// Prefetches the tile's summand, which is usually not in the cache, while products are added.
TAPER_TEMPLATE void fetch_summand(const call *t, const float *add)
{
#ifdef FETCH_SUMMAND
    if (add != NULL) {
        for (size_t i = 0; i < t->mr; i++)
            FETCH_SUMMAND(add + i * t->e->add_stride);
    }
#else
    (void)t;
    (void)add;
#endif
}

// Computes a tile of mr rows by nv vectors. t0 and t1 say which lanes of the vectors exist.
TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const size_t ku, const call *t, const float *w, float *c,
                         const float *add, VT t0, VT t1)
{
    V acc[MR_MAX][2], part[SPLIT][2];
    const size_t kc = t->kc;
    fetch_summand(t, add);
    begin_tile(mr, nv, w, acc);
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        TAPER_UNROLL
        for (size_t u = 1; u < ku; u++)
            part[u - 1][j] = v_set(0);
    }
    w += NR;
    const float *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        const float *p[MR_MAX];
        size_t used = 0;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const float *const x = a[TAPER_ROW(i, mr, t->mr)];
            const size_t real = x != t->zero;
            p[i] = taper_f32_at(x, real ? t->a_offset : 0);
            used += real;
        }
        if (used == 0) {
            w += kc * NR;
            continue;
        }
#ifdef EACH_EVEN_MR
        if (nv == 1 && mr >= LEAST_EVEN && is_even(mr, p)) {
            w = add_even_products(mr, p[0], p[1] - p[0], w, kc, acc);
            continue;
        }
#endif
        w = add_products(mr, nv, ku, p, w, kc, AHEAD(t), acc, part);
    }
    TAPER_UNROLL
    for (size_t u = 1; u < ku; u++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            acc[0][j] = v_add(acc[0][j], part[u - 1][j]);
    }
    end_tile(mr, nv, t->mr, t->e, c, t->c_stride, add, t0, t1, acc);
}

#define PARTS(mr) ((mr) == 1 ? SPLIT : 1)
#include "ops/kernels/gemm_f32_strip_tmpl.h"

#ifdef EACH_EVEN_MR
// Adds the products of one element of each row of A, for rows at equal distances: the element that is u floats after
// the row's pointer. The weights for this element are at w + NR; the function returns this address.
TAPER_TEMPLATE const float *add_even_k(const size_t mr, const size_t nv, const float **p, size_t step, const size_t u,
                                       const float *w, size_t ahead, V acc[MR_MAX][2])
{
    V b[2];
    w += NR;
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += OF_A_POINTER)
        __asm__("" : "+r"(p[i / OF_A_POINTER])); // keeps compilers from making a pointer for each row
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        b[j] = v_load(w + VN * j);
    FETCH(w, ahead);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        const V x = v_set(p[i / OF_A_POINTER][i % OF_A_POINTER * step + u]);
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            acc[i][j] = v_fma(x, b[j], acc[i][j]);
    }
    return w;
}

// Computes a tile of rows at equal distances. Loading, comparing and spilling a pointer for each row would take as long
// as five steps of k. Here every third row has a pointer, and scaled indices reach the two rows after it.
TAPER_TEMPLATE void even_tile(const size_t mr, const size_t nv, const call *t, const float *w, float *c,
                              const float *add, VT t0, VT t1)
{
    V acc[MR_MAX][2];
    const float *p[POINTERS];
    const size_t step = t->row_step;
    fetch_summand(t, add);
    begin_tile(mr, nv, w, acc);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += OF_A_POINTER)
        p[i / OF_A_POINTER] = t->rows + i * step;
    size_t k = t->kc;
    if (TOGETHER > 1) {
        TAPER_NO_UNROLL
        for (; k >= TOGETHER; k -= TOGETHER) {
            TAPER_UNROLL
            for (size_t u = 0; u < TOGETHER; u++)
                w = add_even_k(mr, nv, p, step, u, w, t->ahead, acc);
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i += OF_A_POINTER)
                p[i / OF_A_POINTER] += TOGETHER;
        }
    }
    TAPER_NO_UNROLL
    for (; k > 0; k--) {
        w = add_even_k(mr, nv, p, step, 0, w, t->ahead, acc);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            p[i / OF_A_POINTER]++;
    }
    end_tile(mr, nv, mr, t->e, c, t->c_stride, add, t0, t1, acc);
}

#ifdef HALVES
// Computes a tile of a panel that has a vector and a half. The halves of two rows share a vector, so three vectors do
// the work of four.
TAPER_TEMPLATE void half_tile(const size_t mr, const call *t, const float *w, float *c, const float *add, size_t n)
{
    V acc[MR_MAX], half[(MR_MAX + 1) / 2];
    const float *p[POINTERS];
    const size_t step = t->row_step, c_stride = t->c_stride;
    fetch_summand(t, add);
    const V bias = v_load(w), bias_half = v_twice(w + VN);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        acc[i] = bias;
        half[i / 2] = bias_half;
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += OF_A_POINTER)
        p[i / OF_A_POINTER] = t->rows + i * step;
    TAPER_NO_UNROLL
    for (size_t k = t->kc; k > 0; k--) {
        w += NR;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            __asm__("" : "+r"(p[i / OF_A_POINTER])); // avoids a pointer for each row, see even_tile
        const V b = v_load(w), b_half = v_twice(w + VN);
        FETCH(w, t->ahead);
        V x[2];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            x[i % 2] = v_set(p[i / OF_A_POINTER][i % OF_A_POINTER * step]);
            acc[i] = v_fma(x[i % 2], b, acc[i]);
            if (i % 2 == 1 || i + 1 == mr)
                half[i / 2] = v_fma(v_halves(x[0], x[i % 2]), b_half, half[i / 2]);
        }
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            p[i / OF_A_POINTER]++;
    }
    const VT all = v_first(VN), lanes = v_first(n - VN);
    if (add != NULL) {
        const size_t add_stride = t->e->add_stride;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i] = v_add(acc[i], v_load(add + i * add_stride));
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += 2) {
            const V of_first = v_load_t(add + i * add_stride + VN, lanes);
            const V of_second = i + 1 < mr ? v_load_t(add + (i + 1) * add_stride + VN, lanes) : of_first;
            half[i / 2] = v_add(half[i / 2], v_whole(of_first, of_second));
        }
    }
    if (t->e->min > -INFINITY || t->e->max < INFINITY) {
        const V low = v_set(t->e->min), high = v_set(t->e->max);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i] = v_min(high, v_max(low, acc[i]));
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += 2)
            half[i / 2] = v_min(high, v_max(low, half[i / 2]));
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        v_store_t(c + i * c_stride, acc[i], all);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += 2)
        v_store_halves(c + i * c_stride + VN, i + 1 < mr ? c + (i + 1) * c_stride + VN : NULL, half[i / 2], lanes);
}
#endif

#ifdef TRIPLES
// Computes a tile of a panel together with one vector of the next panel, of which only the first `lanes` columns exist.
// Computed alone, that vector would have too few independent sums to hide the FMA's latency.
TAPER_TEMPLATE void triple_tile(const size_t mr, const call *t, const float *a, const float *w, float *c,
                                const float *add, VT lanes)
{
    V acc[MR_MAX][3];
    const size_t step = t->row_step, panel = (t->kc + 1) * NR, c_stride = t->c_stride;
    TAPER_UNROLL
    for (size_t j = 0; j < 3; j++) {
        const V bias = v_load(j < 2 ? w + VN * j : w + panel);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = bias;
    }
    const float *p[POINTERS];
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += OF_A_POINTER)
        p[i / OF_A_POINTER] = a + i * step;
    TAPER_NO_UNROLL
    for (size_t k = t->kc; k > 0; k--) {
        V b[3];
        w += NR;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            __asm__("" : "+r"(p[i / OF_A_POINTER])); // avoids a pointer for each row, see even_tile
        TAPER_UNROLL
        for (size_t j = 0; j < 3; j++)
            b[j] = v_load(j < 2 ? w + VN * j : w + panel);
        FETCH(w, t->ahead);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const V x = v_set(p[i / OF_A_POINTER][i % OF_A_POINTER * step]);
            TAPER_UNROLL
            for (size_t j = 0; j < 3; j++)
                acc[i][j] = v_fma(x, b[j], acc[i][j]);
        }
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i += OF_A_POINTER)
            p[i / OF_A_POINTER]++;
    }
    if (add != NULL) {
        const size_t add_stride = t->e->add_stride;
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < 3; j++)
                acc[i][j] = v_add(acc[i][j], v_load_t(add + i * add_stride + VN * j, j < 2 ? v_first(VN) : lanes));
        }
    }
    if (t->e->min > -INFINITY || t->e->max < INFINITY) {
        const V low = v_set(t->e->min), high = v_set(t->e->max);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < 3; j++)
                acc[i][j] = v_min(high, v_max(low, acc[i][j]));
        }
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < 3; j++)
            v_store_t(c + i * c_stride + VN * j, acc[i][j], j < 2 ? v_first(VN) : lanes);
    }
}

// Computes the rows of a strip with triple_tile, in tiles of at most four rows, which fit into the registers.
TAPER_TEMPLATE void triple_tiles(const size_t mr, const call *t, const float *w, float *c, const float *add, VT lanes)
{
    const size_t first = mr > 4 ? (mr + 1) / 2 : mr;
    fetch_summand(t, add);
    triple_tile(first, t, t->rows, w, c, add, lanes);
    if (first < mr)
        triple_tile(mr - first, t, t->rows + first * t->row_step, w, c + first * t->c_stride,
                    add != NULL ? add + first * t->e->add_stride : NULL, lanes);
}
#endif

TAPER_TEMPLATE void even_strip(const size_t mr, const call *t)
{
    const float *w = t->w, *add = t->e->add;
    float *c = t->c;
    size_t n = t->nc;
    for (; n > VN; n -= n < NR ? n : NR) {
#ifdef HALVES
        if (n <= VN + VN / 2) {
            half_tile(mr, t, w, c, add, n);
            return;
        }
#endif
#ifdef TRIPLES
        if (n > NR && n <= NR + VN) {
            triple_tiles(mr, t, w, c, add, v_first(n - NR));
            return;
        }
#endif
        even_tile(mr, 2, t, w, c, add, v_first(VN), v_first(n < NR ? n - VN : VN));
        w += (t->kc + 1) * NR;
        c += NR;
        add = add != NULL ? add + NR : NULL;
    }
    if (n > 0)
        even_tile(mr, 1, t, w, c, add, v_first(n), v_first(n));
}

#define EVEN_STRIP(mr)                                                                                                 \
    TAPER_INSTANCE void even_strip_##mr(const call *t)                                                                 \
    {                                                                                                                  \
        even_strip(mr, t);                                                                                             \
    }
EACH_EVEN_MR(EVEN_STRIP)
#undef EVEN_STRIP

#define ENTRY(mr) even_strip_##mr,
static void (*const even_strips[])(const call *t) = {EACH_EVEN_MR(ENTRY)};
#undef ENTRY
#endif

#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void strip_##mr(const call *t)                                                                      \
    {                                                                                                                  \
        strip(mr, t);                                                                                                  \
    }
EACH_MR(STRIP)
#undef STRIP

#define ENTRY(mr) strip_##mr,
static void (*const strips[])(const call *t) = {EACH_MR(ENTRY)};
#undef ENTRY

// Computes a strip of rows that are a_stride apart.
static void run_even(call *t, const float *a, size_t a_stride)
{
#ifdef EACH_EVEN_MR
    if (t->mr >= LEAST_EVEN) {
        t->rows = a;
        t->row_step = a_stride;
        even_strips[t->mr - LEAST_EVEN](t);
        return;
    }
#endif
    const float *rows[MR_MAX];
    for (size_t i = 0; i < t->mr; i++)
        rows[i] = a + i * a_stride;
    t->a = rows;
    strips[TAPER_STRIP(t->mr)](t);
}

// Defines the two functions of an entry in gemm_f32_list.inc.
#define GEMM_F32(gemm, igemm)                                                                                          \
    void igemm(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a, size_t a_tap_stride,                 \
               size_t a_offset, const float *zero, const float *w, float *c, size_t c_stride,                          \
               const taper_gemm_epilogue *e)                                                                           \
    {                                                                                                                  \
        const call t = {mr, nc, kc, ks, a, a_tap_stride, a_offset, zero, w, c, c_stride, e, FETCH_AHEAD NO_ROWS};      \
        strips[TAPER_STRIP(mr)](&t);                                                                                   \
    }                                                                                                                  \
    void gemm(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w, float *c,               \
              size_t c_stride, const taper_gemm_epilogue *e)                                                           \
    {                                                                                                                  \
        const taper_gemm_strips cut = taper_gemm_cut(m, MR_MAX);                                                       \
        taper_gemm_epilogue epilogue = *e;                                                                             \
        call t = {0, nc, kc, 1, NULL, 0, 0, NULL, w, c, c_stride, &epilogue, FETCH_AHEAD NO_ROWS};                     \
        for (size_t s = 0; s < cut.count; s++) {                                                                       \
            t.mr = cut.even + (s < cut.longer);                                                                        \
            SET_AHEAD(&t, s, cut.count)                                                                                \
            run_even(&t, a, a_stride);                                                                                 \
            a += t.mr * a_stride;                                                                                      \
            t.c += t.mr * c_stride;                                                                                    \
            if (epilogue.add != NULL)                                                                                  \
                epilogue.add += t.mr * e->add_stride;                                                                  \
        }                                                                                                              \
    }
