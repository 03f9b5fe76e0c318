// SPDX-License-Identifier: BSD-2-Clause
// The body of the NEON kernels for quantized numbers. The rows of A are rearranged once per strip into the order in
// which the products read them, for all panels of weights. If this needs too much stack, they are rearranged piece by
// piece for each panel. The including file defines
//   MR_MAX, NR, KR      the tile; KR k of a row are one group, in A and in the weights
//   ROWS(mr), ACC       sums of a tile of mr rows: acc[ROWS(mr)][ACC] vectors
//   GATHERED            largest number of groups of A at a time
//   A_BYTES             size of these groups and of 16 / KR more groups, in bytes
// and then the functions that are declared here. Products with many sums are written in assembly: compilers move the
// sums between registers, and load operands too late for in-order processors.
#include "ops/kernels/simd_i8_neon.h"

// The source of a panel's groups of inputs.
typedef struct walk {
    int8_t *a;
    size_t groups, tap_groups; // number of groups of all taps; number of groups of one tap
    int whole;                 // 1 if all groups are gathered before the first panel
    int half;                  // 1 if the second half of the last group's k is missing
} walk;

#define MARK_BYTES(groups) taper_gemm_i8_marks(KR == 16 ? TAPER_I8_OF_SIXTEENS : TAPER_I8_NONE, groups)

// The parameters and the destinations of a strip's results, from the next column on.
typedef struct results {
    uint8_t *c[MR_MAX];
    const int32_t *bias;
    const float *scale;
    int floats;
    i8_range range;
} results;

// Rearranges 16 k of each row i, which start at p[i] + k, to 16 / KR groups of `a`, from `group` on.
TAPER_TEMPLATE void gather_16(int8_t *a, size_t group, const uint8_t *const *p, size_t k);
// Computes the sums of `groups` groups for nv vectors of four columns, starting from start[0 .. NR). It may read one
// group more of A, and TAPER_GEMM_I8_TAIL bytes more of w. marks: the marks after the whole panel
// (taper_gemm_i8_marks).
TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            const int8_t *marks, const int32_t *start, int32x4_t acc[][ACC]);
// Does what product does for MR_MAX rows whose inputs are gathered in pieces: any number of groups, without half groups
// and without marks.
TAPER_TEMPLATE void product_of_piece(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                                     int32x4_t acc[][ACC]);
// Stores row i's sums unchanged.
TAPER_TEMPLATE void sums_of_row(const size_t nv, size_t i, int32x4_t acc[][ACC], int32_t *sums);
// Stores uint8 results of 4 * nv columns, and advances r->c and r->scale by NR.
TAPER_TEMPLATE void finish(const size_t mr, const size_t nv, results *r, int32x4_t acc[][ACC]);

// Gathers groups [first, first + groups) of `taps` taps. Reads up to 15 bytes after the last k of a row, and writes up
// to 16 / KR - 1 groups after the last group.
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

// Computes the sums of a panel while A is gathered in pieces, always for MR_MAX rows: such jobs are rare and large.
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

// Stores float results of `rows` rows, from column `column` on.
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

// Computes the results of the next panel.
TAPER_TEMPLATE void tile(const size_t mr, const size_t nv, const taper_gemm_i8 *t, const walk *from, results *r,
                         const int8_t *w)
{
    int32x4_t acc[ROWS(MR_MAX)][ACC];
    if (__builtin_expect(from->whole, 1)) {
        product(mr, nv, from->groups, from->half, from->a, w, w + from->groups * (KR * NR), r->bias, acc);
    } else {
        int32x4_t sums[ROWS(MR_MAX)][ACC];
        const walk copy = *from; // a copy stays in registers while the results are stored
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

// Stores the last columns of `rows` rows. There are fewer than NR last columns.
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

// Computes all panels of a strip of mr rows. The results of an incomplete panel are first stored in a buffer. Up to NR
// / 2 columns are computed as half a panel.
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
