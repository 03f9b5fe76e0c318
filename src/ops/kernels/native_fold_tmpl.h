// SPDX-License-Identifier: BSD-2-Clause
// The reductions of native.h and the tiles of its products; a part of native_tmpl.h.
#include <float.h>

#include "base/fetch.h"

// FOLD_LANES: number of accumulators of a line. The hardware prefetcher stops at the end of a page, so a line is
// prefetched a page ahead: FOLD_AHEAD, in bytes.
enum { FOLD_LANES = 32, FOLD_AHEAD = 4096 };

// Adds one half of the accumulators to the other. The constant length keeps their vectors in registers.
#define FOLD_HALF(A, width, merged)                                                                                    \
    for (size_t j = 0; j < (width); j++) {                                                                             \
        const A a = part[j], x = part[j + (width)];                                                                    \
        part[j] = merged;                                                                                              \
    }
// Defines the two functions of a reduction. A line has enough accumulators to hide an operation's latency. In a rows
// function, each column has its own accumulator.
#define FOLD_LINE(name, dtype, T, A, start, joined, merged)                                                            \
    static void line_##name##_##dtype(size_t n, const void *from, void *acc)                                           \
    {                                                                                                                  \
        const T *xs = from;                                                                                            \
        A *total = acc, part[FOLD_LANES];                                                                              \
        size_t k = 0;                                                                                                  \
        for (size_t j = 0; j < FOLD_LANES; j++)                                                                        \
            part[j] = start;                                                                                           \
        for (; k + FOLD_LANES <= n; k += FOLD_LANES) {                                                                 \
            taper_fetch((const char *)(xs + k) + FOLD_AHEAD, FOLD_LANES * sizeof(T));                                  \
            VECTORIZED for (size_t j = 0; j < FOLD_LANES; j++)                                                         \
            {                                                                                                          \
                const A a = part[j], x = (A)xs[k + j];                                                                 \
                part[j] = joined;                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (size_t j = 0; k < n; k++, j++) {                                                                          \
            const A a = part[j], x = (A)xs[k];                                                                         \
            part[j] = joined;                                                                                          \
        }                                                                                                              \
        FOLD_HALF(A, 16, merged)                                                                                       \
        FOLD_HALF(A, 8, merged)                                                                                        \
        FOLD_HALF(A, 4, merged)                                                                                        \
        FOLD_HALF(A, 2, merged)                                                                                        \
        FOLD_HALF(A, 1, merged)                                                                                        \
        const A a = *total, x = part[0];                                                                               \
        *total = merged;                                                                                               \
    }
#define FOLD(name, dtype, T, A, start, joined, merged)                                                                 \
    FOLD_LINE(name, dtype, T, A, start, joined, merged)                                                                \
    static void rows_##name##_##dtype(size_t rows, size_t n, const void *from, size_t stride, void *acc)               \
    {                                                                                                                  \
        for (size_t r = 0; r < rows; r++) {                                                                            \
            const T *xs = (const T *)from + r * stride;                                                                \
            A *as = acc;                                                                                               \
            VECTORIZED for (size_t k = 0; k < n; k++)                                                                  \
            {                                                                                                          \
                const A a = as[k], x = (A)xs[k];                                                                       \
                as[k] = joined;                                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }
TAPER_NATIVE_FOLDS(FOLD)
FOLD_LINE(PRODUCT, F32, float, double, 1, a *x, a *x)
#undef FOLD
#undef FOLD_LINE
#undef FOLD_HALF

// Multiplies rows of floats, and keeps accumulators in registers from row to row.
static void rows_PRODUCT_F32(size_t rows, size_t n, const void *from, size_t stride, void *acc)
{
    const float *xs = from;
    double *as = acc;
    size_t c = 0;
    for (; c + FOLD_LANES <= n; c += FOLD_LANES) {
        double part[FOLD_LANES];
        for (size_t k = 0; k < FOLD_LANES; k++)
            part[k] = 1;
        for (size_t r = 0; r < rows; r++) {
            VECTORIZED for (size_t k = 0; k < FOLD_LANES; k++) part[k] *= (double)xs[r * stride + c + k];
        }
        for (size_t k = 0; k < FOLD_LANES; k++)
            as[c + k] *= part[k];
    }
    for (size_t r = 0; r < rows && c < n; r++) {
        for (size_t k = c; k < n; k++)
            as[k] *= (double)xs[r * stride + k];
    }
}

// Real and imaginary parts alternate. Each of SUM_FLOATS lanes adds up to SUM_STEPS elements as floats. These sums are
// then added to SUM_PARTS doubles. If such a sum overflows, all elements are added again as doubles. The constant
// length of the loops keeps their vectors in registers.
enum { SUM_FLOATS = 64, SUM_STEPS = 32, SUM_PARTS = SUM_FLOATS / 4 };
static void line_SUM_C64(size_t n, const void *from, void *acc)
{
    const float *xs = from;
    double *total = acc, part[SUM_PARTS] = {0};
    size_t left = 2 * n;
    while (left >= SUM_FLOATS) {
        float floats[SUM_FLOATS] = {0};
        for (size_t i = 0; i < SUM_STEPS && left >= SUM_FLOATS; i++, left -= SUM_FLOATS, xs += SUM_FLOATS) {
            VECTORIZED for (size_t j = 0; j < SUM_FLOATS; j++) floats[j] += xs[j];
        }
        TAPER_NO_UNROLL for (size_t j = 0; j < SUM_PARTS; j++) floats[j] += floats[j + SUM_PARTS];
        TAPER_NO_UNROLL for (size_t j = 0; j < SUM_PARTS; j++) floats[j + 2 * SUM_PARTS] += floats[j + 3 * SUM_PARTS];
        TAPER_NO_UNROLL for (size_t j = 0; j < SUM_PARTS; j++) part[j] +=
            (double)(floats[j] + floats[j + 2 * SUM_PARTS]);
    }
    for (size_t j = 0; j < left; j++)
        part[j % SUM_PARTS] += (double)xs[j];
    for (size_t j = 0; j < SUM_PARTS / 2; j++)
        part[j] += part[j + SUM_PARTS / 2];
    for (size_t j = 0; j < SUM_PARTS / 4; j++)
        part[j] += part[j + SUM_PARTS / 4];
    double re = part[0] + part[2], im = part[1] + part[3];
    if (!(fabs(re) <= DBL_MAX && fabs(im) <= DBL_MAX)) {
        xs = from;
        re = im = 0;
        for (size_t k = 0; k < n; k++) {
            re += (double)xs[2 * k];
            im += (double)xs[2 * k + 1];
        }
    }
    total[0] += re;
    total[1] += im;
}

static void rows_SUM_C64(size_t rows, size_t n, const void *from, size_t stride, void *acc)
{
    for (size_t r = 0; r < rows; r++) {
        const float *xs = (const float *)from + 2 * r * stride;
        double *as = acc;
        VECTORIZED for (size_t k = 0; k < 2 * n; k++) as[k] += (double)xs[k];
    }
}

// A vector of eight channels of a window, whose operations are written out. For loops over many channels, compilers
// would choose vectors that do not fit into registers.
typedef float window_floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t window_ints __attribute__((vector_size(32)));

// Computes neighbouring vectors together, so that a cache line is read once if pixels are far apart.
TAPER_TEMPLATE void window_block(const size_t vectors, size_t places, const float *const *x, size_t c,
                                 const int32_t *at, int32_t first, float *most, int64_t *where)
{
    enum { LANES = sizeof(window_ints) / sizeof(int32_t), MOST = 4 };
    window_floats m[MOST];
    window_ints w[MOST];
    for (size_t v = 0; v < vectors; v++) {
        for (size_t k = 0; k < LANES; k++) {
            m[v][k] = -INFINITY;
            w[v][k] = first;
        }
    }
    for (size_t i = 0; i < places; i++) {
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++) {
            const window_floats a = *(const window_floats *)(x[i] + c + v * LANES);
            const window_ints taken = (a > m[v]) | (a != a);
            m[v] = (window_floats)(((window_ints)a & taken) | ((window_ints)m[v] & ~taken));
            w[v] = (at[i] & taken) | (w[v] & ~taken);
        }
    }
    for (size_t v = 0; v < vectors; v++) {
        *(window_floats *)(most + c + v * LANES) = m[v];
        for (size_t k = 0; k < LANES; k++)
            where[c + v * LANES + k] = w[v][k];
    }
}

static void window_f32(size_t places, size_t n, const float *const *x, const int32_t *at, int32_t first, float *most,
                       int64_t *where)
{
    enum { LANES = sizeof(window_ints) / sizeof(int32_t) };
    size_t c = 0;
    for (; c + 4 * LANES <= n; c += 4 * LANES)
        window_block(4, places, x, c, at, first, most, where);
    for (; c + LANES <= n; c += LANES)
        window_block(1, places, x, c, at, first, most, where);
    for (; c < n; c++) {
        most[c] = -INFINITY;
        where[c] = first;
        for (size_t i = 0; i < places; i++) {
            const float v = x[i][c];
            if ((v > most[c]) | (v != v)) {
                most[c] = v;
                where[c] = at[i];
            }
        }
    }
}

static double deviations_f64(size_t n, const double *x, double mean)
{
    double part[FOLD_LANES] = {0};
    size_t k = 0;
    for (; k + FOLD_LANES <= n; k += FOLD_LANES) {
        VECTORIZED for (size_t j = 0; j < FOLD_LANES; j++)
        {
            const double d = x[k + j] - mean;
            part[j] += d * d;
        }
    }
    for (size_t j = 0; k < n; k++, j++)
        part[j] += (x[k] - mean) * (x[k] - mean);
    for (size_t width = FOLD_LANES / 2; width != 0; width /= 2) {
        for (size_t j = 0; j < width; j++)
            part[j] += part[j + width];
    }
    return part[0];
}

#define PICK(better)                                                                                                   \
    VECTORIZED for (size_t k = 0; k < n; k++)                                                                          \
    {                                                                                                                  \
        const float v = xs[k], b = best[k];                                                                            \
        const bool taken = better | ((v != v) & (b == b));                                                             \
        best[k] = taken ? v : b;                                                                                       \
        where[k] = taken ? (int32_t)r : where[k];                                                                      \
    }
static void pick_f32(size_t rows, size_t n, const float *x, size_t stride, bool least, float *best, int32_t *where)
{
    memcpy(best, x, n * sizeof *best);
    memset(where, 0, n * sizeof *where);
    for (size_t r = 1; r < rows; r++) {
        const float *xs = x + r * stride;
        if (least) {
            PICK((v < b))
        } else {
            PICK((v > b))
        }
    }
}
#undef PICK

#define FOLD_ROW(name, dtype, ...)                                                                                     \
    [TAPER_FOLD_##name][TAPER_FOLD_##dtype] = {line_##name##_##dtype, rows_##name##_##dtype},

#define TILE(name, T)                                                                                                  \
    static void name(const T *a, const T *b, int64_t k, T *sums)                                                       \
    {                                                                                                                  \
        T s0[TAPER_TILE_COLUMNS] = {0}, s1[TAPER_TILE_COLUMNS] = {0}, s2[TAPER_TILE_COLUMNS] = {0},                    \
          s3[TAPER_TILE_COLUMNS] = {0};                                                                                \
        for (int64_t p = 0; p < k; p++, a += TAPER_TILE_ROWS, b += TAPER_TILE_COLUMNS) {                               \
            for (int c = 0; c < TAPER_TILE_COLUMNS; c++) {                                                             \
                s0[c] += a[0] * b[c];                                                                                  \
                s1[c] += a[1] * b[c];                                                                                  \
                s2[c] += a[2] * b[c];                                                                                  \
                s3[c] += a[3] * b[c];                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (int c = 0; c < TAPER_TILE_COLUMNS; c++) {                                                                 \
            sums[c] = s0[c];                                                                                           \
            sums[TAPER_TILE_COLUMNS + c] = s1[c];                                                                      \
            sums[2 * TAPER_TILE_COLUMNS + c] = s2[c];                                                                  \
            sums[3 * TAPER_TILE_COLUMNS + c] = s3[c];                                                                  \
        }                                                                                                              \
    }
TILE(tile_u64, uint64_t)
#undef TILE
