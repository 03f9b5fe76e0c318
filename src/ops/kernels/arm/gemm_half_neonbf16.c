// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with the matrix products of bf16 (FEAT_BF16). BFMMLA multiplies two rows by two columns, four k at
// once, and adds to floats. A tile has up to 8 rows by 12 columns in 24 accumulators of 2 x 2. A strip of A is rounded
// to bf16 first, with two rows interleaved, in blocks of k that stay in the L1 cache. Each block is then multiplied
// with all columns. If there are several blocks, partial sums are kept in C.
#include <math.h>
#include <string.h>

#include "ops/kernels/gemm_half.h"
#include "ops/kernels/simd_neon.h"

#define NR 12
#define EACH_PAIRS(X) X(1) X(2) X(3) X(4)

enum {
    MR_MAX = 8,
    FOURS = 128,           // number of k of a block, divided by four
    PITCH = 2 * 4 * FOURS, // number of bf16 numbers in two rows of a block
    MOST_PIECES = 32,      // largest number of pieces in a block
    PAIRS = NR / 2         // number of pairs of columns in a panel
};

typedef struct piece { // consecutive elements of a row of A, within one or more taps
    size_t row, count; // row: index of the weights in the panel; count: number of elements, divided by four
} piece;

typedef struct block {
    bfloat16_t a[MR_MAX / 2][PITCH];
    piece pieces[MOST_PIECES];
    size_t count, fours;
    bool first, last;
} block;

typedef struct call {
    size_t mr, nc, panel; // number of rows; number of columns; number of floats of a panel
    const float *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} call;

// ---- rounding a strip of A

static void round_rows(block *b, size_t mr, const float *const *rows, size_t depth)
{
    for (size_t i = 0; i < mr + mr % 2; i++) { // for an odd number of rows the last one is repeated
        const float *x = rows[i < mr ? i : mr - 1];
        bfloat16_t *to = b->a[i / 2] + 8 * b->fours + 4 * (i % 2);
        size_t k = 0;
        for (; k + 4 <= depth; k += 4, to += 8)
            vst1_bf16(to, vcvt_bf16_f32(v_load(x + k)));
        if (k < depth)
            vst1_bf16(to, vcvt_bf16_f32(v_load_t(x + k, depth - k)));
    }
    b->fours += (depth + 3) / 4;
}

// ---- tiles of the result

// The addresses of a tile's columns. `from` points to the initial sums: the bias (stride 0) or C.
typedef struct places {
    const float *from;
    size_t from_stride;
    const float *add; // summand, or NULL
    size_t add_stride;
    float *to;
    size_t to_stride;
} places;

TAPER_TEMPLATE void put_row(const call *t, const places *p, size_t i, bool clamps, const V sum[NR / 4])
{
    TAPER_UNROLL
    for (size_t j = 0; j < NR / 4; j++) {
        V y = v_add(sum[j], v_load(p->from + i * p->from_stride + 4 * j));
        if (p->add != NULL)
            y = v_add(y, v_load(p->add + i * p->add_stride + 4 * j));
        if (clamps)
            y = v_min(v_set(t->e->max), v_max(v_set(t->e->min), y));
        v_store(p->to + i * p->to_stride + 4 * j, y);
    }
}

// Computes a tile with all columns. For an odd number of rows the last pair has one row.
TAPER_TEMPLATE void tile(const size_t pairs, const block *b, const call *t, const float *panel, places p)
{
    V acc[MR_MAX / 2][PAIRS];
    TAPER_UNROLL
    for (size_t i = 0; i < pairs; i++) {
        TAPER_UNROLL
        for (size_t j = 0; j < PAIRS; j++)
            acc[i][j] = v_set(0);
    }
    const bfloat16_t *a = b->a[0];
    for (size_t at = 0; at < b->count; at++) {
        const bfloat16_t *w = (const bfloat16_t *)(const void *)(panel + NR) + b->pieces[at].row * (4 * NR);
        TAPER_NO_UNROLL
        for (size_t left = b->pieces[at].count; left > 0; left--, a += 8, w += 4 * NR) {
            bfloat16x8_t x[MR_MAX / 2];
            TAPER_UNROLL
            for (size_t i = 0; i < pairs; i++)
                x[i] = vld1q_bf16(a + i * PITCH);
            TAPER_UNROLL
            for (size_t j = 0; j < PAIRS; j++) {
                const bfloat16x8_t weights = vld1q_bf16(w + 8 * j);
                TAPER_UNROLL
                for (size_t i = 0; i < pairs; i++)
                    acc[i][j] = vbfmmlaq_f32(acc[i][j], x[i], weights);
            }
        }
    }
    const bool clamps = b->last && (t->e->min > -INFINITY || t->e->max < INFINITY);
    TAPER_UNROLL
    for (size_t i = 0; i < pairs; i++) {
        V upper[NR / 4], lower[NR / 4];
        TAPER_UNROLL
        for (size_t j = 0; j < NR / 4; j++) {
            const float64x2_t x = vreinterpretq_f64_f32(acc[i][2 * j]), y = vreinterpretq_f64_f32(acc[i][2 * j + 1]);
            upper[j] = vreinterpretq_f32_f64(vzip1q_f64(x, y));
            lower[j] = vreinterpretq_f32_f64(vzip2q_f64(x, y));
        }
        put_row(t, &p, 2 * i, clamps, upper);
        if (2 * i + 1 < t->mr)
            put_row(t, &p, 2 * i + 1, clamps, lower);
    }
}

static void move_columns(size_t mr, size_t n, const float *from, size_t from_stride, float *to, size_t to_stride)
{
    for (size_t i = 0; i < mr; i++)
        memcpy(to + i * to_stride, from + i * from_stride, n * sizeof *to);
}

#define TILES(pairs)                                                                                                   \
    TAPER_INSTANCE void tile_##pairs(const block *b, const call *t, const float *panel, places p)                      \
    {                                                                                                                  \
        tile(pairs, b, t, panel, p);                                                                                   \
    }
EACH_PAIRS(TILES)
#define TILE_NAME(pairs) tile_##pairs,
static void (*const tiles[])(const block *b, const call *t, const float *panel, places p) = {EACH_PAIRS(TILE_NAME)};

// Computes all panels for the rows of a block, and empties the block.
static void multiply(block *b, const call *t)
{
    const size_t mr = t->mr;
    places p = {t->w, 0, b->first ? t->e->add : NULL, t->e->add_stride, t->c, t->c_stride};
    const float *w = t->w;
    size_t n = t->nc;
    for (; n >= NR; n -= NR, w += t->panel) {
        p.from = b->first ? w : p.to;
        p.from_stride = b->first ? 0 : p.to_stride;
        tiles[(mr - 1) / 2](b, t, w, p);
        p.to += NR;
        p.add = p.add != NULL ? p.add + NR : NULL;
    }
    if (n > 0) { // the columns of an incomplete panel are computed in a buffer of a whole panel
        float made[MR_MAX * NR] = {0}, summand[MR_MAX * NR] = {0};
        places q = {b->first ? w : made, b->first ? 0 : NR, NULL, NR, made, NR};
        if (!b->first)
            move_columns(mr, n, p.to, p.to_stride, made, NR);
        if (p.add != NULL) {
            move_columns(mr, n, p.add, p.add_stride, summand, NR);
            q.add = summand;
        }
        tiles[(mr - 1) / 2](b, t, w, q);
        move_columns(mr, n, made, NR, p.to, p.to_stride);
    }
    b->first = false;
    b->count = b->fours = 0;
}

// ---- gemm and igemm

// Appends elements of a tap to the block. If their rows of weights directly follow those of the last piece, that piece
// becomes longer.
static void add_piece(block *b, size_t mr, const float **rows, size_t row, size_t depth)
{
    piece *before = b->count != 0 ? &b->pieces[b->count - 1] : NULL;
    const size_t fours = (depth + 3) / 4;
    if (before != NULL && before->row + before->count == row) {
        before->count += fours;
    } else {
        b->pieces[b->count++] = (piece){row, fours};
    }
    round_rows(b, mr, rows, depth);
    for (size_t i = 0; i < mr; i++)
        rows[i] += depth;
}

static void begin(block *b)
{
    b->count = b->fours = 0;
    b->first = true;
    b->last = false;
}

void taper_igemm_bf16_8x12_neonbf16(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a,
                                    size_t a_tap_stride, size_t a_offset, const float *zero, const float *w, float *c,
                                    size_t c_stride, const taper_gemm_epilogue *e)
{
    const size_t fours = (kc + 3) / 4;
    const call t = {mr, nc, ks * fours * 2 * NR + NR, w, c, c_stride, e};
    block b;
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
            depth = kc - k < 4 * FOURS ? kc - k : 4 * FOURS;
            if (b.fours + (depth + 3) / 4 > FOURS || b.count == MOST_PIECES)
                multiply(&b, &t);
            add_piece(&b, mr, rows, tap * fours + k / 4, depth);
        }
    }
    b.last = true;
    multiply(&b, &t);
}

void taper_gemm_bf16_8x12_neonbf16(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
                                   float *c, size_t c_stride, const taper_gemm_epilogue *e)
{
    const taper_gemm_strips cut = taper_gemm_cut(m, MR_MAX);
    taper_gemm_epilogue epilogue = *e;
    call t = {0, nc, (kc + 3) / 4 * 2 * NR + NR, w, c, c_stride, &epilogue};
    block b;
    begin(&b);
    for (size_t s = 0; s < cut.count; s++) {
        const float *rows[MR_MAX];
        t.mr = cut.even + (s < cut.longer);
        for (size_t i = 0; i < t.mr; i++, a += a_stride)
            rows[i] = a;
        b.first = true;
        for (size_t k = 0, depth; k < kc; k += depth) {
            depth = kc - k < 4 * FOURS ? kc - k : 4 * FOURS;
            b.last = k + depth == kc;
            add_piece(&b, t.mr, rows, k / 4, depth);
            multiply(&b, &t);
        }
        t.c += t.mr * c_stride;
        if (epilogue.add != NULL)
            epilogue.add += t.mr * e->add_stride;
    }
}
