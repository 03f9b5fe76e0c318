// SPDX-License-Identifier: BSD-2-Clause
// The body of the NEON kernels of quantized numbers. The rows of A are brought once per strip into the order in which
// the products read them, for all panels of weights; where that is more than the stack should hold, piece by piece for
// every panel. The including file defines
//   MR_MAX, NR, KR      the tile; KR k of a row are one group, in A and in the weights
//   ROWS(mr), ACC       sums of a tile of mr rows: acc[ROWS(mr)][ACC] vectors
//   GATHERED, A_BYTES   most groups of A at a time, and the bytes they take with the 16 / KR groups behind them
// and then the functions that are declared here. Products of many sums are written in assembly: compilers move the sums
// about, and load what the products want too late for processors that take instructions in order.
#include "ops/kernels/simd_i8_neon.h"

// Where the groups of a panel come from.
typedef struct walk {
    int8_t *a;
    size_t groups, tap_groups; // of all taps, of one
    int whole;                 // all are gathered
    int half;                  // of the last group the second half of its k is missing
} walk;

#define MARK_BYTES(groups) taper_gemm_i8_marks(KR == 16 ? TAPER_I8_OF_SIXTEENS : TAPER_I8_NONE, groups)

// What a strip's results are made with, and where they go, from the next column on.
typedef struct results {
    uint8_t *c[MR_MAX];
    const int32_t *bias;
    const float *scale;
    int floats;
    i8_range range;
} results;

// Brings 16 k of all rows, at p[0] + k and so on, into order: 16 / KR groups from `group` on.
TAPER_TEMPLATE void gather_16(int8_t *a, size_t group, const uint8_t *const *p, size_t k);
// The sums of `groups` groups; nv: vectors of four columns that are wanted. They begin with start[0 .. NR). A group
// more of A may be read, and TAPER_GEMM_I8_TAIL bytes more of w. marks: behind the whole panel (taper_gemm_i8_marks).
TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            const int8_t *marks, const int32_t *start, int32x4_t acc[][ACC]);
// The same of MR_MAX rows in pieces: any groups, no halves, and no marks.
TAPER_TEMPLATE void product_of_piece(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                                     int32x4_t acc[][ACC]);
// Row i's sums as they are.
TAPER_TEMPLATE void sums_of_row(const size_t nv, size_t i, int32x4_t acc[][ACC], int32_t *sums);
// uint8 results of 4 * nv columns; moves r->c and r->scale by NR.
TAPER_TEMPLATE void finish(const size_t mr, const size_t nv, results *r, int32x4_t acc[][ACC]);

// Groups [first, first + groups) of `taps` taps; behind the last k of a row up to 15 bytes are read, and up to
// 16 / KR - 1 groups are written behind the last.
static void gather(const taper_gemm_i8 *t, size_t tap, size_t taps, size_t first, size_t groups, int8_t *to)
{
    const uint8_t *const *a = t->a + tap * t->a_tap_stride;
    for (size_t group = 0; taps > 0; taps--, a += t->a_tap_stride, group += groups) {
        const uint8_t *p[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < MR_MAX; i++)
            p[i] = a[i < t->mr ? i : t->mr - 1] + t->a_offset + first * KR;
        for (size_t k = 0; k < groups * KR; k += 16)
            gather_16(to, group + k / KR, p, k);
    }
}

// The sums of a panel where A is not whole, of as many rows as there can be: these are rare, and large.
TAPER_INSTANCE void pieces(const taper_gemm_i8 *t, const walk *from, const int8_t *w, const int32_t *start,
                           int32x4_t sums[][ACC])
{
    static const int32_t none[NR];
    int32x4_t acc[ROWS(MR_MAX)][ACC];
    memset(sums, 0, sizeof acc);
    for (size_t tap = 0; tap < t->ks; tap++) {
        for (size_t g = 0; g < from->tap_groups; g += GATHERED) {
            const size_t groups = from->tap_groups - g < GATHERED ? from->tap_groups - g : GATHERED;
            gather(t, tap, 1, g, groups, from->a);
            product_of_piece(groups, from->a, w, start, acc);
            TAPER_UNROLL
            for (size_t i = 0; i < ROWS(MR_MAX); i++) {
                TAPER_UNROLL
                for (size_t j = 0; j < ACC; j++)
                    sums[i][j] = vaddq_s32(sums[i][j], acc[i][j]);
            }
            w += groups * (KR * NR);
            start = none;
        }
    }
}

// Float results: the columns from `column` on of `rows` rows.
TAPER_INSTANCE void store_floats(const taper_gemm_i8 *t, size_t rows, size_t column, const int32_t *sums)
{
    const size_t n = t->nc - column < NR ? t->nc - column : NR;
    for (size_t i = 0; i < rows; i++, sums += NR) {
        float *c = (float *)t->c + i * t->c_stride + column;
        for (size_t j = 0; j < n; j++) {
            const float y = (float)sums[j] * t->e.scale[column + j];
            const float z = y + t->e.shift[column + j];
            c[j] = z < t->e.floor ? t->e.floor : z;
        }
    }
}

// The next panel.
TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const taper_gemm_i8 *t, const walk *from, results *r,
                         const int8_t *w)
{
    int32x4_t acc[ROWS(MR_MAX)][ACC];
    if (__builtin_expect(from->whole, 1)) {
        product(mr, nv, from->groups, from->half, from->a, w, w + from->groups * (KR * NR), r->bias, acc);
    } else {
        int32x4_t sums[ROWS(MR_MAX)][ACC];
        const walk copy = *from; // the strip's stays in registers
        pieces(t, &copy, w, r->bias, sums);
        TAPER_UNROLL
        for (size_t i = 0; i < ROWS(mr); i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < ACC; j++)
                acc[i][j] = sums[i][j];
        }
    }
    r->bias += NR;
    if (__builtin_expect(r->floats, 0)) {
        int32_t sums[MR_MAX * NR];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            sums_of_row(nv, i, acc, sums + NR * i);
        store_floats(t, mr, (size_t)(r->bias - t->e.bias) - NR, sums);
    } else {
        finish(mr, nv, r, acc);
    }
}

TAPER_TEMPLATE void results_to(results *r, uint8_t *c, size_t stride)
{
    TAPER_UNROLL
    for (size_t i = 0; i < MR_MAX; i++)
        r->c[i] = c + i * stride;
}

// The last columns of `rows` rows, fewer than NR.
TAPER_INSTANCE void store_ends(const taper_gemm_i8 *t, size_t rows, const uint8_t *bytes)
{
    const size_t n = t->nc % NR, column = t->nc - n;
    for (size_t i = 0; i < rows; i++) {
        uint8_t *to = (uint8_t *)t->c + i * t->c_stride + column;
        if (n == 8) {
            memcpy(to, bytes + i * NR, 8);
            continue;
        }
        TAPER_NO_UNROLL
        for (size_t j = 0; j < n; j++)
            to[j] = bytes[i * NR + j];
    }
}

// All panels of a strip of mr rows. Of a panel that is not whole the results go elsewhere first; up to NR / 2 columns
// are half a panel.
#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void strip_##mr(const taper_gemm_i8 *t, const walk *gathered)                                       \
    {                                                                                                                  \
        const walk from = *gathered;                                                                                   \
        const size_t panel = from.groups * (KR * NR) + MARK_BYTES(from.groups), ends = t->nc % NR;                     \
        const int8_t *w = t->w;                                                                                        \
        results r = {.bias = t->e.bias, .scale = t->e.scale, .floats = t->e.shift != NULL};                            \
        size_t panels = t->nc / NR;                                                                                    \
        uint8_t bytes[MR_MAX * NR];                                                                                    \
        r.range = i8_range_of(&t->e);                                                                                  \
        results_to(&r, t->c, t->c_stride);                                                                             \
        for (int last = panels == 0;; last = 1) {                                                                      \
            if (last) {                                                                                                \
                if (ends == 0)                                                                                         \
                    return;                                                                                            \
                results_to(&r, bytes, NR);                                                                             \
                if (NR > 4 && ends <= NR / 2) {                                                                        \
                    tile(mr, NR / 8, t, &from, &r, w);                                                                 \
                    break;                                                                                             \
                }                                                                                                      \
                panels = 1;                                                                                            \
            }                                                                                                          \
            do {                                                                                                       \
                tile(mr, NR / 4, t, &from, &r, w);                                                                     \
                w += panel;                                                                                            \
            } while (--panels > 0);                                                                                    \
            if (last)                                                                                                  \
                break;                                                                                                 \
        }                                                                                                              \
        if (!r.floats)                                                                                                 \
            store_ends(t, mr, bytes);                                                                                  \
    }
#define STRIP_NAME(mr) strip_##mr,
#define GEMM_I8(name)                                                                                                  \
    EACH_MR(STRIP)                                                                                                     \
    static void (*const strips[MR_MAX])(const taper_gemm_i8 *t, const walk *from) = {EACH_MR(STRIP_NAME)};             \
    void taper_gemm_i8_##name(const taper_gemm_i8 *job)                                                                \
    {                                                                                                                  \
        int8_t a[A_BYTES] __attribute__((aligned(16)));                                                                \
        const size_t groups = (job->kc + KR - 1) / KR;                                                                 \
        walk from = {.a = a, .groups = job->ks * groups, .tap_groups = groups};                                        \
        from.whole = from.groups <= GATHERED;                                                                          \
        from.half = taper_gemm_i8_half(KR, job->ks, job->kc);                                                          \
        if (from.whole)                                                                                                \
            gather(job, 0, job->ks, 0, groups, a);                                                                     \
        strips[job->mr - 1](job, &from);                                                                               \
    }
