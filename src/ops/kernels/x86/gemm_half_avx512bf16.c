// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with the bf16 dot products of AVX-512: up to 14 rows by 32 columns in 28 accumulators of floats, two k
// at a time. A strip of A is rounded to bf16 first, in blocks of k that stay in the L1 cache. Each block is then
// multiplied with all columns. If there are several blocks, partial sums are kept in C. Pairs of k are contiguous in
// the weights and in A, so a broadcast is two elements of a row.
#include <math.h>

#include "ops/kernels/gemm_half.h"
#include "ops/kernels/simd_avx512.h"

#define MR_MAX 14
#define NR 32
#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define SPLIT 4 // partial sums of a tile of one row, which hide the latency of the dot product

enum {
    PAIRS = 256, // number of pairs of k in a block of A
    // Number of pairs from one row of the block to the next, with space for a whole vector after the last pair.
    PITCH = PAIRS + VN,
    MOST_PIECES = PAIRS,    // largest number of pieces in a block
    ROW_BYTES = 2 * NR * 2, // size in bytes of the weights of two k, for all columns
    FETCH_AHEAD = 8192      // distance of prefetches in bytes, see gemm_f32_avx512.c
};

typedef struct piece { // consecutive pairs of inputs (two k) of one tap
    size_t row, count; // row: row of the panel with the weights of the first pair; count: number of pairs
} piece;

typedef struct block {
    uint32_t a[MR_MAX][PITCH];
    piece pieces[MOST_PIECES];
    size_t count, pairs;
    bool first, last;
} block;

typedef struct call {
    size_t nc, panel; // number of columns; number of floats of a panel
    const float *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} call;

// ---- rounding a strip of A

static void round_rows(block *b, size_t mr, const float *const *rows, size_t depth)
{
    for (size_t i = 0; i < mr; i++) {
        const float *x = rows[i];
        uint32_t *to = b->a[i] + b->pairs;
        size_t k = 0;
        for (; k + 2 * VN <= depth; k += 2 * VN, to += VN)
            _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(v_load(x + k + VN), v_load(x + k)));
        if (k < depth) {
            const size_t left = depth - k;
            const V low = v_load_t(x + k, v_first(left));
            const V high = left > VN ? v_load_t(x + k + VN, v_first(left - VN)) : v_set(0);
            _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(high, low));
        }
    }
    b->pairs += (depth + 1) / 2;
}

// ---- tiles of the result

TAPER_TEMPLATE V add_product(V sum, __m512i x, __m512i w)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w);
}

TAPER_TEMPLATE __m512i weights_at(const char *w, size_t j)
{
    return _mm512_loadu_si512(w + 4 * VN * j);
}

TAPER_TEMPLATE void fetch(const char *w)
{
    _mm_prefetch(w + FETCH_AHEAD, _MM_HINT_T0);
    _mm_prefetch(w + FETCH_AHEAD + 64, _MM_HINT_T0);
}

// Computes a tile of mr rows by nv vectors. t0 and t1 say which lanes of the vectors exist.
TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const block *b, const call *t, const float *w, float *c,
                         const float *add, VT t0, VT t1)
{
    V acc[MR_MAX][2], part[SPLIT][2];
    const size_t ku = mr == 1 ? SPLIT : 1, c_stride = t->c_stride;
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const V bias = v_load(w + VN * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = b->first ? bias : v_load_t(c + i * c_stride + VN * j, j == 0 ? t0 : t1);
        TAPER_UNROLL
        for (size_t u = 1; u < ku; u++)
            part[u][j] = v_set(0);
    }
    const char *const weights = (const char *)(w + NR);
    const uint32_t *a = b->a[0];
    for (size_t p = 0; p < b->count; p++) {
        const char *row = weights + b->pieces[p].row * ROW_BYTES;
        const uint32_t *const end = a + b->pieces[p].count;
        if (ku > 1) {
            for (; end - a >= (ptrdiff_t)ku; a += ku, row += ku * ROW_BYTES) {
                TAPER_UNROLL
                for (size_t u = 0; u < ku; u++) {
                    fetch(row + u * ROW_BYTES);
                    const __m512i x = _mm512_set1_epi32((int32_t)a[u]);
                    TAPER_UNROLL
                    for (size_t j = 0; j < nv; j++) {
                        V *sum = u == 0 ? &acc[0][j] : &part[u][j];
                        *sum = add_product(*sum, x, weights_at(row + u * ROW_BYTES, j));
                    }
                }
            }
        }
        TAPER_NO_UNROLL
        for (; a < end; a++, row += ROW_BYTES) {
            __m512i pair[2];
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                pair[j] = weights_at(row, j);
            fetch(row);
            TAPER_UNROLL
            for (size_t i = 0; i < mr; i++) {
                const __m512i x = _mm512_set1_epi32((int32_t)a[i * PITCH]);
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++)
                    acc[i][j] = add_product(acc[i][j], x, pair[j]);
            }
        }
    }
    TAPER_UNROLL
    for (size_t u = 1; u < ku; u++) {
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            acc[0][j] = v_add(acc[0][j], part[u][j]);
    }
    if (add != NULL) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = v_add(acc[i][j], v_load_t(add + i * t->e->add_stride + VN * j, j == 0 ? t0 : t1));
        }
    }
    if (b->last && (t->e->min > -INFINITY || t->e->max < INFINITY)) {
        const V low = v_set(t->e->min), high = v_set(t->e->max);
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
            v_store_t(c + i * c_stride + VN * j, acc[i][j], j == 0 ? t0 : t1);
    }
}

// Computes all panels for the mr rows of the block.
TAPER_TEMPLATE void strip(const size_t mr, const block *b, const call *t)
{
    const float *w = t->w, *add = b->first ? t->e->add : NULL; // the summand may be C itself
    float *c = t->c;
    size_t n = t->nc;
    for (; n > VN; n -= n < NR ? n : NR) {
        tile(mr, 2, b, t, w, c, add, v_first(VN), v_first(n < NR ? n - VN : VN));
        w += t->panel;
        c += NR;
        add = add != NULL ? add + NR : NULL;
    }
    if (n > 0)
        tile(mr, 1, b, t, w, c, add, v_first(n), v_first(n));
}

#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void strip_##mr(const block *b, const call *t)                                                      \
    {                                                                                                                  \
        strip(mr, b, t);                                                                                               \
    }
EACH_MR(STRIP)
#define STRIP_NAME(mr) strip_##mr,
static void (*const strips[])(const block *b, const call *t) = {EACH_MR(STRIP_NAME)};

// ---- gemm and igemm

static void begin(block *b)
{
    b->count = b->pairs = 0;
}

static void add_piece(block *b, size_t mr, const float *const *rows, size_t row, size_t depth)
{
    b->pieces[b->count++] = (piece){row, (depth + 1) / 2};
    round_rows(b, mr, rows, depth);
}

static void multiply(block *b, size_t mr, const call *t)
{
    strips[mr - 1](b, t);
    b->first = false;
    begin(b);
}

void taper_igemm_bf16_14x32_avx512bf16(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a,
                                       size_t a_tap_stride, size_t a_offset, const float *zero, const float *w,
                                       float *c, size_t c_stride, const taper_gemm_epilogue *e)
{
    const size_t pairs = (kc + 1) / 2;
    const call t = {nc, (ks * pairs + 1) * NR, w, c, c_stride, e};
    block b;
    b.first = true;
    b.last = false;
    begin(&b);
    for (size_t tap = 0; tap < ks; tap++, a += a_tap_stride) {
        const float *rows[MR_MAX];
        size_t used = 0;
        for (size_t i = 0; i < mr; i++) {
            const size_t real = a[i] != zero;
            rows[i] = taper_f32_at(a[i], real ? a_offset : 0);
            used += real;
        }
        if (used == 0)
            continue;
        for (size_t k = 0, depth; k < kc; k += depth) {
            if (b.pairs != 0 && b.pairs + (kc - k + 1) / 2 > PAIRS)
                multiply(&b, mr, &t);
            depth = kc - k < 2 * PAIRS ? kc - k : 2 * PAIRS;
            add_piece(&b, mr, rows, tap * pairs + k / 2, depth);
            for (size_t i = 0; i < mr; i++)
                rows[i] += depth;
        }
    }
    b.last = true;
    multiply(&b, mr, &t);
}

void taper_gemm_bf16_14x32_avx512bf16(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
                                      float *c, size_t c_stride, const taper_gemm_epilogue *e)
{
    const taper_gemm_strips cut = taper_gemm_cut(m, MR_MAX);
    taper_gemm_epilogue epilogue = *e;
    call t = {nc, ((kc + 1) / 2 + 1) * NR, w, c, c_stride, &epilogue};
    block b;
    begin(&b);
    for (size_t s = 0; s < cut.count; s++) {
        const size_t mr = cut.even + (s < cut.longer);
        const float *rows[MR_MAX];
        for (size_t i = 0; i < mr; i++, a += a_stride)
            rows[i] = a;
        b.first = true;
        for (size_t k = 0, depth; k < kc; k += depth) {
            depth = kc - k < 2 * PAIRS ? kc - k : 2 * PAIRS;
            b.last = k + depth == kc;
            add_piece(&b, mr, rows, k / 2, depth);
            for (size_t i = 0; i < mr; i++)
                rows[i] += depth;
            multiply(&b, mr, &t);
        }
        t.c += mr * c_stride;
        if (epilogue.add != NULL)
            epilogue.add += mr * e->add_stride;
    }
}
