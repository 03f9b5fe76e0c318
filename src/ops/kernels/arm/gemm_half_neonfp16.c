// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with fp16 arithmetic (FEAT_FP16): up to 8 rows by 16 columns in 16 accumulators of 8 halves. A strip
// of A is rounded to fp16 first, in blocks of k that stay in the L1 cache; each block is then multiplied with all
// columns. Sums of ROUNDS products are halves, which are added to floats in C. With more products the rounding would be
// visible, and sums could overflow.
#include <math.h>
#include <string.h>

#include "ops/kernels/gemm_half.h"
#include "ops/kernels/simd_neon.h"

#define MR_MAX 8
#define NR 16
#define EACH_MR(X) X(1) X(2) TAPER_ODD_MR(X(3)) X(4) TAPER_ODD_MR(X(5)) X(6) TAPER_ODD_MR(X(7)) X(8)
// Number of partial sums of a row, which hide the latency of an addition.
#define PARTS(mr) ((mr) == 1 ? 4 : (mr) == 2 ? 2 : 1)

enum { DEPTH = 512, PITCH = DEPTH + 8, MOST_PIECES = 64, ROUNDS = 64 };

typedef struct piece { // consecutive elements of a row of A, within one or more taps
    size_t row, count; // row: index of the weights in the panel; count: number of elements
} piece;

typedef struct block {
    float16_t a[MR_MAX][PITCH];
    piece pieces[MOST_PIECES];
    size_t count, depth;
    bool first, last;
} block;

typedef struct call {
    size_t mr, nc, panel; // number of rows; number of columns; number of floats of a panel
    const float *w;
    float *c;
    size_t c_stride;
    const taper_gemm_epilogue *e;
} call;

// The addresses of a tile with all columns: initial sums, summand (or NULL), and results.
typedef struct places {
    const float *from;
    size_t from_stride;
    const float *add;
    size_t add_stride;
    float *to;
    size_t to_stride;
} places;

// ---- rounding a strip of A

static void round_rows(block *b, size_t mr, const float *const *rows, size_t depth)
{
    for (size_t i = 0; i < mr; i++) {
        const float *x = rows[i];
        float16_t *to = b->a[i] + b->depth;
        size_t k = 0;
        for (; k + 8 <= depth; k += 8)
            vst1q_f16(to + k, vcvt_high_f16_f32(vcvt_f16_f32(v_load(x + k)), v_load(x + k + 4)));
        for (; k < depth; k++)
            to[k] = (float16_t)x[k];
    }
    b->depth += depth;
}

// ---- tiles of the result

// Adds the sums of halves to the floats of C, and clamps the results if `clamps` is set, which means that they are
// complete.
TAPER_TEMPLATE void add_halves(const size_t mr, const size_t nv, const call *t, float16x8_t acc[MR_MAX][2], places p,
                               bool clamps)
{
    const V low = v_set(t->e->min), high = v_set(t->e->max);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        // This row is a copy of the previous row, whose result may be written already.
        if (TAPER_STRIP_UNIT > 1 && i == t->mr)
            break;
        V sum[4];
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++) {
            sum[2 * j] = v_add(vcvt_f32_f16(vget_low_f16(acc[i][j])), v_load(p.from + 8 * j));
            sum[2 * j + 1] = v_add(vcvt_high_f32_f16(acc[i][j]), v_load(p.from + 8 * j + 4));
        }
        if (p.add != NULL) {
            TAPER_UNROLL
            for (size_t j = 0; j < 2 * nv; j++)
                sum[j] = v_add(sum[j], v_load(p.add + 4 * j));
            p.add += p.add_stride;
        }
        if (clamps) {
            TAPER_UNROLL
            for (size_t j = 0; j < 2 * nv; j++)
                sum[j] = v_min(high, v_max(low, sum[j]));
        }
        TAPER_UNROLL
        for (size_t j = 0; j < 2 * nv; j++)
            v_store(p.to + 4 * j, sum[j]);
        p.from += p.from_stride;
        p.to += p.to_stride;
    }
}

// Computes sum += weights * x[lane]. The code is assembly, because gcc copies the lane before each use of the
// intrinsic. Each lane is used twice, so the copies would add half of the number of instructions.
#define FMLA(sum, weights, x, lane)                                                                                    \
    __asm__("fmla %0.8h, %1.8h, %2.h[" #lane "]" : "+w"(sum) : "w"(weights), "x"(x)) // x must be in registers 0 to 15

// Adds the products of one k: lane u of x is multiplied and added to part u of a row's sums.
#define ONE_K(u)                                                                                                       \
    do {                                                                                                               \
        TAPER_UNROLL                                                                                                   \
        for (size_t j = 0; j < nv; j++)                                                                                \
            weights[j] = vld1q_f16(w + NR * (u) + 8 * j);                                                              \
        TAPER_UNROLL                                                                                                   \
        for (size_t i = 0; i < mr; i++) {                                                                              \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < nv; j++)                                                                            \
                FMLA(acc[i * parts + (u) % parts][j], weights[j], x[i], u);                                            \
        }                                                                                                              \
    } while (0)

// Computes a tile of mr rows by nv vectors.
TAPER_TEMPLATE
void tile(const size_t mr, const size_t nv, const block *b, const call *t, const float *panel, places p)
{
    const size_t parts = PARTS(mr);
    const float16_t *a = b->a[0];
    const bool clamps = b->last && (t->e->min > -INFINITY || t->e->max < INFINITY);
    for (size_t at = 0; at < b->count; at++) {
        const float16_t *w = (const float16_t *)(const void *)(panel + NR) + b->pieces[at].row * NR;
        for (size_t left = b->pieces[at].count, count; left > 0; left -= count) {
            float16x8_t acc[MR_MAX][2], x[MR_MAX], weights[2];
            TAPER_UNROLL
            for (size_t i = 0; i < mr * parts; i++) {
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++)
                    acc[i][j] = vdupq_n_f16(0);
            }
            count = left < ROUNDS ? left : ROUNDS;
            size_t k = count;
            TAPER_NO_UNROLL
            for (; k >= 8; k -= 8, a += 8, w += 8 * NR) {
                TAPER_UNROLL
                for (size_t i = 0; i < mr; i++)
                    x[i] = vld1q_f16(a + TAPER_ROW(i, mr, t->mr) * PITCH);
                ONE_K(0);
                ONE_K(1);
                ONE_K(2);
                ONE_K(3);
                ONE_K(4);
                ONE_K(5);
                ONE_K(6);
                ONE_K(7);
            }
            TAPER_NO_UNROLL
            for (; k > 0; k--, a++, w += NR) {
                TAPER_UNROLL
                for (size_t i = 0; i < mr; i++)
                    x[i] = vld1q_dup_f16(a + TAPER_ROW(i, mr, t->mr) * PITCH);
                ONE_K(0);
            }
            TAPER_UNROLL
            for (size_t i = 0; i < mr && parts > 1; i++) {
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++) {
                    float16x8_t sum = vaddq_f16(acc[i * parts][j], acc[i * parts + 1][j]);
                    if (parts == 4)
                        sum = vaddq_f16(sum, vaddq_f16(acc[i * parts + 2][j], acc[i * parts + 3][j]));
                    acc[i][j] = sum;
                }
            }
            add_halves(mr, nv, t, acc, p, clamps && at + 1 == b->count && left == count);
            p.from = p.to;
            p.from_stride = p.to_stride;
            p.add = NULL;
        }
    }
    if (b->count == 0) { // true if all taps are padding
        float16x8_t none[MR_MAX][2];
        for (size_t i = 0; i < mr; i++)
            none[i][0] = none[i][1] = vdupq_n_f16(0);
        add_halves(mr, nv, t, none, p, clamps);
    }
}

static void move_columns(size_t mr, size_t n, const float *from, size_t from_stride, float *to, size_t to_stride)
{
    for (size_t i = 0; i < mr; i++)
        memcpy(to + i * to_stride, from + i * from_stride, n * sizeof *to);
}

// Computes all panels for the mr rows of the block.
TAPER_TEMPLATE void strip(const size_t mr, const block *b, const call *t)
{
    places p = {t->w, 0, b->first ? t->e->add : NULL, t->e->add_stride, t->c, t->c_stride};
    const float *w = t->w;
    size_t n = t->nc;
    for (; n >= NR; n -= NR, w += t->panel) {
        p.from = b->first ? w : p.to;
        p.from_stride = b->first ? 0 : p.to_stride;
        tile(mr, 2, b, t, w, p);
        p.to += NR;
        p.add = p.add != NULL ? p.add + NR : NULL;
    }
    if (n > 0) { // the columns of an incomplete panel are computed in a buffer of a whole panel
        float made[MR_MAX * NR] = {0}, summand[MR_MAX * NR] = {0};
        places q = {b->first ? w : made, b->first ? 0 : NR, NULL, NR, made, NR};
        if (!b->first)
            move_columns(t->mr, n, p.to, p.to_stride, made, NR);
        if (p.add != NULL) {
            move_columns(t->mr, n, p.add, p.add_stride, summand, NR);
            q.add = summand;
        }
        if (n <= 8) {
            tile(mr, 1, b, t, w, q);
        } else {
            tile(mr, 2, b, t, w, q);
        }
        move_columns(t->mr, n, made, NR, p.to, p.to_stride);
    }
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

static void multiply(block *b, const call *t)
{
    strips[TAPER_STRIP(t->mr)](b, t);
    b->first = false;
    b->count = b->depth = 0;
}

// Appends elements of a tap to the block. If their rows of weights directly follow those of the last piece, that piece
// becomes longer.
static void add_piece(block *b, size_t mr, const float **rows, size_t row, size_t depth)
{
    piece *before = b->count != 0 ? &b->pieces[b->count - 1] : NULL;
    if (before != NULL && before->row + before->count == row) {
        before->count += depth;
    } else {
        b->pieces[b->count++] = (piece){row, depth};
    }
    round_rows(b, mr, rows, depth);
    for (size_t i = 0; i < mr; i++)
        rows[i] += depth;
}

void taper_igemm_fp16_8x16_neonfp16(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a,
                                    size_t a_tap_stride, size_t a_offset, const float *zero, const float *w, float *c,
                                    size_t c_stride, const taper_gemm_epilogue *e)
{
    const call t = {mr, nc, ks * kc * NR / 2 + NR, w, c, c_stride, e};
    block b;
    b.count = b.depth = 0;
    b.first = true;
    b.last = false;
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
            depth = kc - k < DEPTH ? kc - k : DEPTH;
            if (b.depth + depth > DEPTH || b.count == MOST_PIECES)
                multiply(&b, &t);
            add_piece(&b, mr, rows, tap * kc + k, depth);
        }
    }
    b.last = true;
    multiply(&b, &t);
}

void taper_gemm_fp16_8x16_neonfp16(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
                                   float *c, size_t c_stride, const taper_gemm_epilogue *e)
{
    const taper_gemm_strips cut = taper_gemm_cut(m, MR_MAX);
    taper_gemm_epilogue epilogue = *e;
    call t = {0, nc, kc * NR / 2 + NR, w, c, c_stride, &epilogue};
    block b;
    b.count = b.depth = 0;
    for (size_t s = 0; s < cut.count; s++) {
        const float *rows[MR_MAX];
        t.mr = cut.even + (s < cut.longer);
        for (size_t i = 0; i < t.mr; i++, a += a_stride)
            rows[i] = a;
        b.first = true;
        for (size_t k = 0, depth; k < kc; k += depth) {
            depth = kc - k < DEPTH ? kc - k : DEPTH;
            b.last = k + depth == kc;
            add_piece(&b, t.mr, rows, k, depth);
            multiply(&b, &t);
        }
        t.c += t.mr * c_stride;
        if (epilogue.add != NULL)
            epilogue.add += t.mr * e->add_stride;
    }
}
