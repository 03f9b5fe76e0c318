// SPDX-License-Identifier: BSD-2-Clause
// The body of the NEON kernels of quantized numbers. The rows of A are brought once per strip into the order in which
// the products read them, for all panels of weights; where that is more than the stack should hold, piece by piece for
// every panel. The including file defines
//   MR_MAX, NR, KR      the tile; KR k of a row are one group, in A and in the weights
//   A_GROUP             bytes of a group of all rows
//   gather_16(to, rows, p, k)   brings 16 k of `rows` rows at p[0] + k ... into order: 16 / KR groups
//   product(mr, nv, groups, half, a, w, acc)   nv: vectors of four columns that are wanted; half: see walk
// and with COLUMNS_16 has 16 columns side by side, in four sums a row; then finish_16() below is its end.
#include "ops/kernels/simd_i8_neon.h"

enum { GATHERED = 16384 / A_GROUP }; // groups

// Groups [first, first + groups) of `taps` taps; behind the last k of a row up to 15 bytes are read, and up to
// 16 / KR - 1 groups are written behind the last.
static void gather(const taper_gemm_i8 *t, size_t tap, size_t taps, size_t first, size_t groups, int8_t *to)
{
    const uint8_t *const *a = t->a + tap * t->a_tap_stride;
    for (; taps > 0; taps--, a += t->a_tap_stride, to += groups * A_GROUP) {
        const uint8_t *p[MR_MAX];
        TAPER_UNROLL
        for (size_t i = 0; i < MR_MAX; i++)
            p[i] = a[i < t->mr ? i : t->mr - 1] + t->a_offset + first * KR;
        int8_t *next = to;
        for (size_t k = 0; k < groups * KR; k += 16, next += 16 / KR * A_GROUP)
            gather_16(next, t->mr, p, k);
    }
}

// Where the groups of a panel come from.
typedef struct walk {
    int8_t *a;
    size_t groups, tap_groups; // of all taps, of one
    int whole;                 // all are gathered
    int half;                  // of the last group the second half of its k is missing
} walk;

TAPER_TEMPLATE void products(const size_t mr, const size_t nv, const taper_gemm_i8 *t, const walk *from,
                             const int8_t *w, int32x4_t acc[][ACC])
{
    if (from->whole) {
        product(mr, nv, from->groups, from->half, from->a, w, acc);
        return;
    }
    TAPER_NO_UNROLL
    for (size_t tap = 0; tap < t->ks; tap++) {
        TAPER_NO_UNROLL
        for (size_t g = 0; g < from->tap_groups; g += GATHERED) {
            const size_t groups = from->tap_groups - g < GATHERED ? from->tap_groups - g : GATHERED;
            gather(t, tap, 1, g, groups, from->a);
            product(mr, nv, groups, 0, from->a, w, acc);
            w += groups * (KR * NR);
        }
    }
}

// Float results: n columns from `column` on of row i.
TAPER_INSTANCE void i8_floats(const taper_gemm_i8 *t, size_t i, size_t column, size_t n, const int32_t *sums)
{
    float *c = (float *)t->c + i * t->c_stride + column;
    for (size_t j = 0; j < n; j++) {
        const float y = (float)sums[j] * t->e.scale[column + j];
        const float z = y + t->e.shift[column + j];
        c[j] = z < t->e.floor ? t->e.floor : z;
    }
}

#ifdef COLUMNS_16
// Row i's sums.
TAPER_TEMPLATE void finish_16(const taper_gemm_i8 *t, size_t i, size_t column, size_t n, const size_t nv,
                              const int32x4_t *sums, const float32x4_t *scale, i8_range range)
{
    if (t->e.shift != NULL) {
        int32_t row[16];
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            vst1q_s32(row + 4 * j, sums[j]);
        i8_floats(t, i, column, n, row);
        return;
    }
    uint8_t *c = (uint8_t *)t->c + i * t->c_stride + column;
    if (nv == 4) {
        i8_store(c, i8_requantize(sums, scale, range), n);
    } else {
        const uint8x8_t y = i8_requantize_half(sums, scale, range);
        if (n == 8)
            vst1_u8(c, y);
        else
            i8_store_some(c, vcombine_u8(y, y), n);
    }
}
#endif

// tile(mr, nv, t, from, w, column, n): one panel. The kernel: all panels of a strip.
#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void strip_##mr(const taper_gemm_i8 *t, const walk *from)                                           \
    {                                                                                                                  \
        const size_t panel = taper_gemm_i8_mark(KR) + from->groups * (KR * NR);                                        \
        const int8_t *w = t->w;                                                                                        \
        size_t column = 0;                                                                                             \
        for (; column + NR / 2 < t->nc; column += NR, w += panel)                                                      \
            tile(mr, NR / 4, t, from, w, column, t->nc - column < NR ? t->nc - column : NR);                           \
        if (column < t->nc)                                                                                            \
            tile(mr, NR > 4 ? NR / 8 : 1, t, from, w, column, t->nc - column);                                         \
    }
#define STRIP_NAME(mr) strip_##mr,
#define GEMM_I8(name)                                                                                                  \
    EACH_MR(STRIP)                                                                                                     \
    static void (*const strips[MR_MAX])(const taper_gemm_i8 *t, const walk *from) = {EACH_MR(STRIP_NAME)};             \
    void taper_gemm_i8_##name(const taper_gemm_i8 *job)                                                                \
    {                                                                                                                  \
        int8_t a[(GATHERED + 16 / KR) * A_GROUP] __attribute__((aligned(16)));                                         \
        const size_t groups = (job->kc + KR - 1) / KR;                                                                 \
        walk from = {.a = a, .groups = job->ks * groups, .tap_groups = groups};                                        \
        from.whole = from.groups <= GATHERED;                                                                          \
        from.half = job->ks == 1 && (job->kc - 1) % KR < KR / 2;                                                       \
        if (from.whole)                                                                                                \
            gather(job, 0, job->ks, 0, groups, a);                                                                     \
        strips[job->mr - 1](job, &from);                                                                               \
    }
