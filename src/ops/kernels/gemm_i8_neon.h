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

// What a strip's results are made with, from the next column on.
typedef struct results {
    uint8_t *c;
    size_t stride;
    const int32_t *bias;
    const float *scale;
    int floats;
    i8_range range;
} results;

// Brings 16 k of `rows` rows, at p[0] + k and so on, into order: 16 / KR groups from `group` on.
TAPER_TEMPLATE void gather_16(int8_t *a, size_t group, size_t rows, const uint8_t *const *p, size_t k);
// The sums of `groups` groups; nv: vectors of four columns that are wanted. They begin with start[0 .. NR). A group
// more of A may be read, and TAPER_GEMM_I8_TAIL bytes more of w. marks: behind the whole panel (taper_gemm_i8_marks).
TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            const int8_t *marks, const int32_t *start, int32x4_t acc[][ACC]);
// The same of MR_MAX rows in pieces: any groups, no halves, and no marks.
TAPER_TEMPLATE void product_of_piece(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                                     int32x4_t acc[][ACC]);
// Row i's sums as they are.
TAPER_TEMPLATE void sums_of_row(const size_t nv, size_t i, int32x4_t acc[][ACC], int32_t *sums);
// n columns of uint8 results.
TAPER_TEMPLATE void finish(const size_t mr, const size_t nv, const results *r, size_t n, int32x4_t acc[][ACC]);

// Groups [first, first + groups) of `taps` taps; behind the last k of a row up to 15 bytes are read, and up to
// 16 / KR - 1 groups are written behind the last.
static void gather(const taper_gemm_i8 *t, size_t rows, size_t tap, size_t taps, size_t first, size_t groups,
                   int8_t *to)
{
    const uint8_t *const *a = t->a + tap * t->a_tap_stride;
    for (size_t group = 0; taps > 0; taps--, a += t->a_tap_stride, group += groups) {
        const uint8_t *p[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < MR_MAX; i++)
            p[i] = a[i < t->mr ? i : t->mr - 1] + t->a_offset + first * KR;
        for (size_t k = 0; k < groups * KR; k += 16)
            gather_16(to, group + k / KR, rows, p, k);
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
            gather(t, MR_MAX, tap, 1, g, groups, from->a);
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

// Float results: n columns from `column` on of `rows` rows.
TAPER_INSTANCE void store_floats(const taper_gemm_i8 *t, size_t rows, size_t column, size_t n, const int32_t *sums)
{
    for (size_t i = 0; i < rows; i++, sums += NR) {
        float *c = (float *)t->c + i * t->c_stride + column;
        for (size_t j = 0; j < n; j++) {
            const float y = (float)sums[j] * t->e.scale[column + j];
            const float z = y + t->e.shift[column + j];
            c[j] = z < t->e.floor ? t->e.floor : z;
        }
    }
}

TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const taper_gemm_i8 *t, const walk *from, const results *r,
                         const int8_t *w, size_t column, size_t n)
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
    if (__builtin_expect(r->floats, 0)) {
        int32_t sums[MR_MAX * NR];
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            sums_of_row(nv, i, acc, sums + NR * i);
        store_floats(t, mr, column, n, sums);
    } else {
        finish(mr, nv, r, n, acc);
    }
}

// The first n bytes of `rows` rows of `step` to where they lie `stride` apart.
TAPER_INSTANCE void store_ends(uint8_t *to, size_t stride, size_t rows, size_t n, size_t step, const uint8_t *bytes)
{
    for (; rows > 0; rows--, to += stride, bytes += step) {
        TAPER_NO_UNROLL
        for (size_t j = 0; j < n; j++)
            to[j] = bytes[j];
    }
}

#if NR == 16
TAPER_TEMPLATE void store_rows(const results *r, const size_t rows, size_t n, const uint8x16_t *y)
{
    uint8_t *to = r->c;
    if (n == 16) {
        TAPER_UNROLL
        for (size_t i = 0; i < rows; i++, to += r->stride)
            vst1q_u8(to, y[i]);
    } else if (n == 8) {
        TAPER_UNROLL
        for (size_t i = 0; i < rows; i++, to += r->stride)
            vst1_u8(to, vget_low_u8(y[i]));
    } else {
        uint8_t bytes[16 * MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < rows; i++)
            vst1q_u8(bytes + 16 * i, y[i]);
        store_ends(to, r->stride, rows, n, 16, bytes);
    }
}
#endif

TAPER_TEMPLATE results results_of(const taper_gemm_i8 *t)
{
    return (results){t->c, t->c_stride, t->e.bias, t->e.scale, t->e.shift != NULL, i8_range_of(&t->e)};
}

// All panels of a strip of mr rows; the last one of up to NR / 2 columns is half a panel. What the loop looks at is
// copied: stores of bytes could be to anything else.
#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void strip_##mr(const taper_gemm_i8 *t, const walk *gathered)                                       \
    {                                                                                                                  \
        const walk from = *gathered;                                                                                   \
        const size_t panel = from.groups * (KR * NR) + taper_gemm_i8_marks(KR, from.groups), nc = t->nc;               \
        const int8_t *w = t->w;                                                                                        \
        results r = results_of(t);                                                                                     \
        size_t column = 0;                                                                                             \
        for (; column + NR / 8 * 4 < nc; column += NR, w += panel) {                                                   \
            tile(mr, NR / 4, t, &from, &r, w, column, nc - column < NR ? nc - column : NR);                            \
            r.c += NR;                                                                                                 \
            r.bias += NR;                                                                                              \
            r.scale += NR;                                                                                             \
        }                                                                                                              \
        if (NR > 4 && column < nc)                                                                                     \
            tile(mr, NR / 8, t, &from, &r, w, column, nc - column);                                                    \
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
            gather(job, job->mr, 0, job->ks, 0, groups, a);                                                            \
        strips[job->mr - 1](job, &from);                                                                               \
    }
