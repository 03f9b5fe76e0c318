// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of bf16 with AMX: 28 rows by 32 columns in four tiles of float sums, 32 k at a time (a step). Panels
// of weights have the order that the avx512bf16 kernel needs, because that kernel computes the products that are too
// small for tiles.
//
// All taps of a row form one row of A, as in a panel. Up to BLOCK steps of a strip are rounded to bf16 in the order of
// tiles, so that the steps stay in the L1 cache, and are multiplied with all columns. If the strip has more steps, the
// sums of up to WAITING panels are kept while the next steps are rounded. If the last step is not whole, zeros fill it,
// in A and in a copy of the weights. The copy is needed because the memory after a panel may contain an infinity. The
// results of a panel are computed from its sums while the tiles compute the panel after the next one.
#include <math.h>
#include <string.h>

#include "ops/kernels/amx_tiles.h"
#include "ops/kernels/gemm_half.h"
#include "ops/kernels/simd_avx512.h"

enum {
    NR = 32,
    MR = 28,            // mr of the entry, which is twice the mr of the avx512bf16 kernel
    MOST_ROWS = 32,     // number of rows of two tiles
    STEP_PAIRS = 16,    // number of pairs of k in a step
    STEP = 64,          // number of bytes of a row of A in a step
    ROW_BYTES = 4 * NR, // size in bytes of the weights of two k, for all columns
    BLOCK = 18,         // largest number of steps of A that are arranged at a time: 36 KB
    WAITING = 6, // largest number of panels whose sums are kept while the next steps of A are arranged; at least three
    FETCH_AHEAD = 8192, // distance of prefetches in bytes, see gemm_f32_avx512.c
};

typedef struct scratch {
    _Alignas(64) uint8_t a[BLOCK][MOST_ROWS][STEP];
    _Alignas(64) float sums[WAITING][MOST_ROWS][NR];
    _Alignas(64) uint8_t w[STEP_PAIRS][ROW_BYTES]; // weights of a last step that is not whole, filled with zeros
} scratch;

// The rows of A: either rows of one tap, which are a_stride floats apart, or a pointer for each row and tap.
typedef struct rows_of_a {
    const float *a;
    size_t a_stride;
    const float *const *pointers; // NULL if the rows have one tap
    // Distance between taps in pointers; number of bytes that are added to each pointer except `zero`.
    size_t tap_stride, offset;
    const float *zero;
} rows_of_a;

// Sums whose results are not written yet.
typedef struct pending {
    const float *sums, *bias;
    // column: first column. count: number of columns. row: next row to write. rows: number of rows, or 0 if nothing is
    // pending.
    size_t column, count, row, rows;
} pending;

typedef struct product {
    rows_of_a from;
    size_t mr, nc, kc, ks;
    size_t pairs, steps; // number of pairs in K; number of steps of K, including one that is not whole
    const float *w;
    float *c;
    size_t c_stride;
    taper_gemm_epilogue e;
    scratch *s;
} product;

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

// ---- A in the order of tiles

static const float *row_at(const rows_of_a *from, size_t tap, size_t i)
{
    if (from->pointers == NULL)
        return from->a + i * from->a_stride;
    const float *a = from->pointers[tap * from->tap_stride + i];
    return a == from->zero ? a : taper_f32_at(a, from->offset);
}

// Rounds the pairs [pair, pair + n) of a tap to rows of tiles. `real` of their elements exist; the others become zeros.
static void round_piece(const product *p, size_t tap, size_t pair, size_t n, size_t real, uint8_t *to)
{
    const VT store = v_first(n), low = v_first(real), high = v_first(real > VN ? real - VN : 0);
    const size_t mr = p->mr, next = real > VN ? VN : 0;
    const float *rows[MOST_ROWS];
    for (size_t i = 0; i < mr; i++)
        rows[i] = row_at(&p->from, tap, i) + 2 * pair;
    for (size_t i = 0; i < mr; i++) {
        const V first = v_load_t(rows[i], low), second = v_load_t(rows[i] + next, high);
        _mm512_mask_storeu_epi32(to + STEP * i, store, (__m512i)_mm512_cvtne2ps_pbh(second, first));
    }
}

// Rounds the steps [from, to) of all rows of A to bf16.
static void bring(const product *p, size_t from, size_t to)
{
    const size_t tap_pairs = (p->kc + 1) / 2, end = min(to * STEP_PAIRS, p->pairs);
    size_t at = from * STEP_PAIRS, tap = at / tap_pairs, pair = at % tap_pairs;
    if (end < to * STEP_PAIRS && p->pairs > STEP_PAIRS)
        memset(p->s->a[to - from - 1], 0, p->mr * STEP);
    for (size_t n; at < end; at += n) {
        n = min(STEP_PAIRS - at % STEP_PAIRS, tap_pairs - pair);
        round_piece(p, tap, pair, n, min(p->kc - 2 * pair, 2 * n),
                    p->s->a[at / STEP_PAIRS - from][0] + at % STEP_PAIRS * 4);
        pair += n;
        if (pair == tap_pairs) {
            pair = 0;
            tap++;
        }
    }
}

// ---- results of a tile

TAPER_TEMPLATE void finish_row(const product *p, const pending *w, size_t i, size_t j, VT mask)
{
    const size_t column = w->column + VN * j;
    V y = v_add(v_load(w->sums + i * NR + VN * j), v_load(w->bias + VN * j));
    if (p->e.add != NULL)
        y = v_add(y, v_load_t(p->e.add + i * p->e.add_stride + column, mask));
    // If y is NaN, this order of operands keeps the NaN.
    y = v_min(v_set(p->e.max), v_max(v_set(p->e.min), y));
    v_store_t(p->c + i * p->c_stride + column, y, mask);
}

// Finishes the results of the next four rows, or of the rows that are left if there are fewer.
TAPER_INSTANCE void finish_some(const product *p, pending *w)
{
    const size_t end = min(w->row + 4, w->rows);
    for (; w->row < end; w->row++) {
        finish_row(p, w, w->row, 0, v_first(w->count));
        if (w->count > VN)
            finish_row(p, w, w->row, 1, v_first(w->count - VN));
    }
}

static void finish_all(const product *p, pending *w)
{
    while (w->row < w->rows)
        finish_some(p, w);
}

// ---- products of panels

// Multiplies the steps [from, to) of a panel. Between the products it finishes results of an earlier panel.
TAPER_TEMPLATE void multiply(const size_t ni, const size_t nj, const product *p, size_t from, size_t to, const char *w,
                             float *sums, pending *before)
{
    const size_t over = p->pairs % STEP_PAIRS;
    const bool odd = to == p->steps && p->pairs > STEP_PAIRS && over != 0;
    const size_t whole = to - from - odd, each = (before->rows - before->row + 4 * (to - from) - 1) / (4 * (to - from));
    const uint8_t *a = p->s->a[0][0];
    w += from * STEP_PAIRS * ROW_BYTES;
    if (odd) {
        const char *last = w + whole * STEP_PAIRS * ROW_BYTES;
        uint8_t *copy = (uint8_t *)p->s->w;
        for (size_t i = 0; i < over * ROW_BYTES; i += 64)
            _mm512_store_si512(copy + i, _mm512_loadu_si512(last + i));
        tiles_written();
    }
    TAPER_TILES_BEGIN(ni, nj, from == 0, sums);
    TAPER_NO_UNROLL
    for (size_t k = 0; k < whole; k++, a += sizeof p->s->a[0], w += STEP_PAIRS * ROW_BYTES) {
        TAPER_TILE_STEP(tile_dot_bf16, ni, nj, a, sizeof p->s->a[0] / 2, STEP, w);
        TAPER_UNROLL
        for (size_t i = 0; i < STEP_PAIRS * ROW_BYTES; i += 64)
            _mm_prefetch(w + FETCH_AHEAD + i, _MM_HINT_T0);
        for (size_t i = 0; i < each && before->row < before->rows; i++)
            finish_some(p, before);
    }
    if (odd) {
        const uint8_t *last = p->s->w[0];
        TAPER_TILE_STEP(tile_dot_bf16, ni, nj, a, sizeof p->s->a[0] / 2, STEP, last);
    }
    TAPER_TILES_STORE(ni, nj, sums);
    finish_all(p, before);
}

#define MULTIPLY(ni, nj)                                                                                               \
    TAPER_INSTANCE void multiply_##ni##x##nj(const product *p, size_t from, size_t to, const char *w, float *sums,     \
                                             pending *before)                                                          \
    {                                                                                                                  \
        multiply(ni, nj, p, from, to, w, sums, before);                                                                \
    }
MULTIPLY(1, 1)
MULTIPLY(1, 2)
MULTIPLY(2, 1)
MULTIPLY(2, 2)

// Computes all panels of a strip.
static void run_strip(const product *p)
{
    // Number of floats of a panel; number of panels.
    const size_t panel = (p->pairs + 1) * NR, panels = (p->nc - 1) / NR + 1;
    const size_t blocks = (p->steps - 1) / BLOCK + 1, together = blocks == 1 ? panels : WAITING;
    // The pending results of the last two panels.
    pending before[2] = {{NULL, NULL, 0, 0, 0, 0}, {NULL, NULL, 0, 0, 0, 0}};
    for (size_t group = 0; group < panels; group += together) {
        const size_t group_end = min(group + together, panels);
        for (size_t from = 0; from < p->steps; from += BLOCK) {
            const size_t to = min(from + BLOCK, p->steps);
            bring(p, from, to);
            tiles_written();
            for (size_t i = group; i < group_end; i++) {
                float *sums = p->s->sums[i % WAITING][0];
                const size_t column = i * NR, count = min(p->nc - column, NR);
                const float *bias = p->w + i * panel;
                const char *w = (const char *)(bias + NR);
                if (p->mr > 16) {
                    (count > VN ? multiply_2x2 : multiply_2x1)(p, from, to, w, sums, before);
                } else {
                    (count > VN ? multiply_1x2 : multiply_1x1)(p, from, to, w, sums, before);
                }
                if (to == p->steps) {
                    before[0] = before[1];
                    before[1] = (pending){sums, bias, column, count, 0, p->mr};
                }
            }
        }
        if (blocks > 1 || group_end == panels) {
            finish_all(p, &before[0]);
            finish_all(p, &before[1]);
        }
    }
}

static void run_strips(product *p, size_t m)
{
    scratch s;
    const taper_gemm_strips cut = taper_gemm_cut(m, MR);
    p->pairs = (p->kc + 1) / 2 * p->ks;
    p->steps = (p->pairs - 1) / STEP_PAIRS + 1;
    p->s = &s;
    memset(s.w, 0, sizeof s.w);
    for (size_t i = 0; i < cut.count; i++) {
        p->mr = cut.even + (i < cut.longer);
        if (i == 0 || i == cut.longer)
            taper_tiles_begin(p->mr, min(p->pairs, STEP_PAIRS));
        run_strip(p);
        if (p->from.pointers == NULL)
            p->from.a += p->mr * p->from.a_stride;
        p->c += p->mr * p->c_stride;
        if (p->e.add != NULL)
            p->e.add += p->mr * p->e.add_stride;
    }
    tiles_release();
}

// ---- gemm and igemm

// Returns true if the kernel for vectors is faster than tiles: for products of one row, and for so few k that most of a
// tile is empty. The numbers of columns and of rows in a call must not decide this, because they depend on the number
// of threads. Vectors add in a different order than tiles, so the results would depend on it too.
static bool is_for_vectors(size_t rows, size_t kc, size_t ks)
{
    enum { LEAST_PAIRS = 16 };
    return TAPER_IS_ONE(TAPER_BUILT_avx512bf16) && (rows == 1 || (kc + 1) / 2 * ks < LEAST_PAIRS);
}

void taper_igemm_bf16_28x32_amx(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a, size_t a_tap_stride,
                                size_t a_offset, const float *zero, const float *w, float *c, size_t c_stride,
                                const taper_gemm_epilogue *e)
{
    if (is_for_vectors(mr, kc, ks)) {
#if TAPER_IS_ONE(TAPER_BUILT_avx512bf16)
        const taper_gemm_strips cut = taper_gemm_cut(mr, MR / 2);
        taper_gemm_epilogue part = *e;
        for (size_t i = 0; i < cut.count; i++) {
            const size_t rows = cut.even + (i < cut.longer);
            taper_igemm_bf16_14x32_avx512bf16(rows, nc, kc, ks, a, a_tap_stride, a_offset, zero, w, c, c_stride, &part);
            a += rows;
            c += rows * c_stride;
            if (part.add != NULL)
                part.add += rows * part.add_stride;
        }
#endif
        return;
    }
    product p = {.from = {.pointers = a, .tap_stride = a_tap_stride, .offset = a_offset, .zero = zero},
                 .nc = nc,
                 .kc = kc,
                 .ks = ks,
                 .w = w,
                 .c = c,
                 .c_stride = c_stride,
                 .e = *e};
    run_strips(&p, mr);
}

void taper_gemm_bf16_28x32_amx(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
                               float *c, size_t c_stride, const taper_gemm_epilogue *e)
{
    if (is_for_vectors(m, kc, 1)) {
#if TAPER_IS_ONE(TAPER_BUILT_avx512bf16)
        taper_gemm_bf16_14x32_avx512bf16(m, nc, kc, a, a_stride, w, c, c_stride, e);
#endif
        return;
    }
    product p = {.from = {.a = a, .a_stride = a_stride},
                 .nc = nc,
                 .kc = kc,
                 .ks = 1,
                 .w = w,
                 .c = c,
                 .c_stride = c_stride,
                 .e = *e};
    run_strips(&p, m);
}
