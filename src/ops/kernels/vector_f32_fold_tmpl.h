// SPDX-License-Identifier: BSD-2-Clause
// The reductions of vector_f32.h; a part of vector_f32_tmpl.h.

#include <float.h>

#include "base/fetch.h"

#include "ops/kernels/vector_f32_fetch.h"

// A sum has two levels: after this number of additions, an accumulator of the first level is added to an accumulator of
// the second. With equal elements all rounding errors have one sign: 64 additions in a single level then give an error
// of six units in the last place. Two levels of 8 have the 64 elements that reduce_vector.c gives to an accumulator.
// PyTorch's cascade sum (aten/src/ATen/native/cpu/SumKernel.cpp) has levels too.
enum { LEVEL = 8 };

// Defines the functions of a sum: for a row, and for rows that are added column by column. Several accumulators are
// used, so that additions do not wait for each other.
#define SUM_OF(name, step)                                                                                             \
    static float fold_##name(size_t n, const float *x)                                                                 \
    {                                                                                                                  \
        V t[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};                                                 \
        size_t i = 0;                                                                                                  \
        while (i + 4 * VN <= n) {                                                                                      \
            const size_t end = n - i > LEVEL * 4 * VN ? i + LEVEL * 4 * VN : n;                                        \
            V s[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};                                             \
            for (; i + 4 * VN <= end; i += 4 * VN) {                                                                   \
                taper_fetch((const char *)(x + i) + FOLD_AHEAD, FOLD_FETCHED);                                         \
                TAPER_UNROLL                                                                                           \
                for (size_t j = 0; j < 4; j++)                                                                         \
                    s[j] = step(s[j], v_load(x + i + j * VN));                                                         \
            }                                                                                                          \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < 4; j++)                                                                             \
                t[j] = v_add(t[j], s[j]);                                                                              \
        }                                                                                                              \
        for (; i < n; i += VN)                                                                                         \
            t[0] = step(t[0], v_load_t(x + i, v_first(n - i)));                                                        \
        return v_sum(v_add(v_add(t[0], t[1]), v_add(t[2], t[3])));                                                     \
    }                                                                                                                  \
    static void rows_##name(size_t rows, size_t columns, const float *x, size_t x_stride, float *out)                  \
    {                                                                                                                  \
        size_t c = 0;                                                                                                  \
        for (; c + 4 * VN <= columns; c += 4 * VN) {                                                                   \
            V t[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};                                             \
            for (size_t r = 0; r < rows;) {                                                                            \
                const size_t end = rows - r > LEVEL ? r + LEVEL : rows;                                                \
                V s[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};                                         \
                for (; r < end; r++) {                                                                                 \
                    TAPER_UNROLL                                                                                       \
                    for (size_t j = 0; j < 4; j++)                                                                     \
                        s[j] = step(s[j], v_load(x + r * x_stride + c + j * VN));                                      \
                }                                                                                                      \
                TAPER_UNROLL                                                                                           \
                for (size_t j = 0; j < 4; j++)                                                                         \
                    t[j] = v_add(t[j], s[j]);                                                                          \
            }                                                                                                          \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < 4; j++)                                                                             \
                v_store(out + c + j * VN, t[j]);                                                                       \
        }                                                                                                              \
        for (; c < columns; c += VN) {                                                                                 \
            const VT some = v_first(columns - c < VN ? columns - c : VN);                                              \
            V t = v_set(0.0f);                                                                                         \
            for (size_t r = 0; r < rows;) {                                                                            \
                const size_t end = rows - r > LEVEL ? r + LEVEL : rows;                                                \
                V s = v_set(0.0f);                                                                                     \
                for (; r < end; r++)                                                                                   \
                    s = step(s, v_load_t(x + r * x_stride + c, some));                                                 \
                t = v_add(t, s);                                                                                       \
            }                                                                                                          \
            v_store_t(out + c, t, some);                                                                               \
        }                                                                                                              \
    }
TAPER_TEMPLATE V plus_square(V s, V x)
{
    return v_fma(x, x, s);
}
TAPER_TEMPLATE V plus_abs(V s, V x)
{
    return v_add(s, v_abs(x));
}
SUM_OF(sum, v_add)
SUM_OF(squares, plus_square)
SUM_OF(abs, plus_abs)
#include "ops/kernels/vector_f32_sums_tmpl.h"
#undef SUM_OF

// Defines the functions of a maximum or minimum: for a row, and for rows column by column. If an element is NaN, the
// result is NaN.
#define EXTREME_OF(name, start, better, beats, across)                                                                 \
    static float fold_##name(size_t n, const float *x)                                                                 \
    {                                                                                                                  \
        V m[2] = {v_set(start), v_set(start)}, bad = v_set(0.0f);                                                      \
        float result = start;                                                                                          \
        size_t i = 0;                                                                                                  \
        if (n < VN) {                                                                                                  \
            for (; i < n; i++)                                                                                         \
                result = x[i] beats result || x[i] != x[i] ? x[i] : result;                                            \
            return result;                                                                                             \
        }                                                                                                              \
        for (; i + 2 * VN <= n; i += 2 * VN) {                                                                         \
            const V a = v_load(x + i), b = v_load(x + i + VN);                                                         \
            m[0] = better(a, m[0]);                                                                                    \
            m[1] = better(b, m[1]);                                                                                    \
            bad = v_pick(v_nan(a), a, v_pick(v_nan(b), b, bad));                                                       \
        }                                                                                                              \
        for (; i < n; i += VN) { /* the last vector overlaps the one before it */                                      \
            const V a = v_load(x + (i + VN <= n ? i : n - VN));                                                        \
            m[0] = better(a, m[0]);                                                                                    \
            bad = v_pick(v_nan(a), a, bad);                                                                            \
        }                                                                                                              \
        result = v_sum(bad); /* not 0 if there is a NaN */                                                             \
        return result != 0.0f ? result : across(better(m[0], m[1]));                                                   \
    }                                                                                                                  \
    static void rows_##name(size_t rows, size_t columns, const float *x, size_t x_stride, float *out)                  \
    {                                                                                                                  \
        size_t c = 0;                                                                                                  \
        for (; c + 4 * VN <= columns; c += 4 * VN) {                                                                   \
            V m[4] = {v_set(start), v_set(start), v_set(start), v_set(start)}, bad[4];                                 \
            bad[0] = bad[1] = bad[2] = bad[3] = v_set(0.0f);                                                           \
            for (size_t r = 0; r < rows; r++) {                                                                        \
                TAPER_UNROLL                                                                                           \
                for (size_t j = 0; j < 4; j++) {                                                                       \
                    const V a = v_load(x + r * x_stride + c + j * VN);                                                 \
                    m[j] = better(a, m[j]);                                                                            \
                    bad[j] = v_pick(v_nan(a), a, bad[j]);                                                              \
                }                                                                                                      \
            }                                                                                                          \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < 4; j++)                                                                             \
                v_store(out + c + j * VN, v_pick(v_nan(bad[j]), bad[j], m[j]));                                        \
        }                                                                                                              \
        for (; c < columns; c += VN) {                                                                                 \
            const VT t = v_first(columns - c < VN ? columns - c : VN);                                                 \
            V m = v_set(start), bad = v_set(0.0f);                                                                     \
            for (size_t r = 0; r < rows; r++) {                                                                        \
                const V a = v_load_t(x + r * x_stride + c, t);                                                         \
                m = better(a, m);                                                                                      \
                bad = v_pick(v_nan(a), a, bad);                                                                        \
            }                                                                                                          \
            v_store_t(out + c, v_pick(v_nan(bad), bad, m), t);                                                         \
        }                                                                                                              \
    }
#define LEAST(v) (-v_most(v_sub(v_set(0.0f), v)))
EXTREME_OF(most, -INFINITY, v_max, >, v_most)
EXTREME_OF(least, INFINITY, v_min, <, LEAST)
#undef LEAST
#undef EXTREME_OF

static void sum_rows(size_t rows, size_t count, const float *x, size_t x_stride, float scale, float *out)
{
    const V factor = v_set(scale);
    size_t c = 0;
    // Adds four vectors of channels at a time. Two rows go to different sums, to hide the latency of the addition.
    for (; c + 4 * VN <= count; c += 4 * VN) {
        V t[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};
        const float *p = x + c;
        for (size_t r = 0; r < rows;) {
            const size_t end = rows - r > 2 * LEVEL ? r + 2 * LEVEL : rows;
            V s[2][4];
            TAPER_UNROLL
            for (size_t j = 0; j < 4; j++)
                s[0][j] = s[1][j] = v_set(0.0f);
            for (; r + 2 <= end; r += 2, p += 2 * x_stride) {
                TAPER_UNROLL
                for (size_t j = 0; j < 4; j++) {
                    s[0][j] = v_add(s[0][j], v_load(p + j * VN));
                    s[1][j] = v_add(s[1][j], v_load(p + x_stride + j * VN));
                }
            }
            for (; r < end; r++, p += x_stride) {
                TAPER_UNROLL
                for (size_t j = 0; j < 4; j++)
                    s[0][j] = v_add(s[0][j], v_load(p + j * VN));
            }
            TAPER_UNROLL
            for (size_t j = 0; j < 4; j++)
                t[j] = v_add(t[j], v_add(s[0][j], s[1][j]));
        }
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            v_store(out + c + j * VN, v_mul(t[j], factor));
    }
    for (; c < count; c += VN) {
        const VT t = v_first(count - c);
        V s = v_set(0.0f);
        const float *p = x + c;
        for (size_t r = 0; r < rows;) {
            const size_t end = rows - r > LEVEL ? r + LEVEL : rows;
            V part = v_set(0.0f);
            for (; r < end; r++, p += x_stride)
                part = v_add(part, v_load_t(p, t));
            s = v_add(s, part);
        }
        v_store_t(out + c, v_mul(s, factor), t);
    }
}

#include "ops/kernels/vector_f32_lines_tmpl.h"

// Largest number of elements of a row that are added as floats; a row may have millions of elements.
enum { ADDED_FLOATS = LEVEL * LEVEL * 2 * VN };

// Computes y = exp(x - high) and returns the sum of y.
static float exp_sum(size_t n, const float *x, float high, float *y)
{
    const V h = v_set(high);
    double total = 0;
    size_t i = 0;
    while (i + VN <= n) {
        const size_t end = n - i > 4 * LEVEL * VN ? i + 4 * LEVEL * VN : n;
        V s = v_set(0.0f);
        for (; i + VN <= end; i += VN) {
            const V e = v_exp(v_sub(v_load(x + i), h));
            if (y != NULL)
                v_store(y + i, e);
            s = v_add(s, e);
        }
        total += (double)v_sum(s);
    }
    if (i < n) {
        float tail[VN];
        const VT t = v_first(n - i);
        v_store(tail, v_exp(v_sub(v_load_t(x + i, t), h)));
        for (size_t j = 0; j < n - i; j++) {
            total += (double)tail[j];
            if (y != NULL)
                y[i + j] = tail[j];
        }
    }
    return (float)total;
}

static void softmax(size_t n, const float *x, float *y)
{
    const float total = exp_sum(n, x, fold_most(n, x), y);
    const float factor = 1.0f / total;
    binary_mul_vs(n, y, &factor, y, -INFINITY, INFINITY);
}

static void log_softmax(size_t n, const float *x, float *y)
{
    const float high = fold_most(n, x);
    const float shift = logf(exp_sum(n, x, high, NULL));
    // Subtracts in two steps, because the sum of high and shift would round away a small shift.
    binary_sub_vs(n, x, &high, y, -INFINITY, INFINITY);
    binary_sub_vs(n, y, &shift, y, -INFINITY, INFINITY);
}

static float log_sum_exp(size_t n, const float *x)
{
    // An infinite maximum is not subtracted, because the difference of two infinities is NaN.
    const float most = fold_most(n, x), high = most - most == 0.0f ? most : 0.0f;
    return high + logf(exp_sum(n, x, high, NULL));
}

static float deviations(size_t n, const float *x, float mean)
{
    const V m = v_set(mean);
    V t[2] = {v_set(0.0f), v_set(0.0f)};
    size_t i = 0;
    while (i + 2 * VN <= n) {
        const size_t end = n - i > LEVEL * 2 * VN ? i + LEVEL * 2 * VN : n;
        V s[2] = {v_set(0.0f), v_set(0.0f)};
        for (; i + 2 * VN <= end; i += 2 * VN) {
            const V a = v_sub(v_load(x + i), m), b = v_sub(v_load(x + i + VN), m);
            s[0] = v_fma(a, a, s[0]);
            s[1] = v_fma(b, b, s[1]);
        }
        t[0] = v_add(t[0], s[0]);
        t[1] = v_add(t[1], s[1]);
    }
    float squares = v_sum(v_add(t[0], t[1]));
    for (; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return squares;
}

static void layer_norm(size_t n, const float *x, const float *gamma, const float *beta, float eps, float *y)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i += ADDED_FLOATS)
        sum += (double)fold_sum(n - i < ADDED_FLOATS ? n - i : ADDED_FLOATS, x + i);
    const float mean = (float)(sum / (double)n);
    for (size_t i = 0; i < n; i += ADDED_FLOATS)
        squares += (double)deviations(n - i < ADDED_FLOATS ? n - i : ADDED_FLOATS, x + i, mean);
    const double off = sum / (double)n - (double)mean, variance = squares / (double)n - off * off;
    const V m = v_set(mean);
    const float factor = 1.0f / sqrtf((variance < 0 ? 0.0f : (float)variance) + eps);
    const V f = v_set(factor), one = v_set(1.0f), none = v_set(0.0f);
    for (size_t i = 0; i < n; i += VN) {
        const VT t = v_first(n - i);
        const V v = v_mul(v_sub(v_load_t(x + i, t), m), f);
        v_store_t(y + i,
                  v_fma(v, gamma != NULL ? v_load_t(gamma + i, t) : one, beta != NULL ? v_load_t(beta + i, t) : none),
                  t);
    }
}
