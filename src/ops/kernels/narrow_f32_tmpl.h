// SPDX-License-Identifier: BSD-2-Clause
// The functions of narrow_f32.h, written with the functions of simd_<isa>.h and these, which the including file
// defines:
//   v_bytes(p)      VN signed bytes as floats
//   v_words(p)      VN words of 32 bits, as VI
//   v_nibble(w, i)  nibble i of each word, less 8, as floats
//   HALF_ROWS       rows of halves that are read together, 1 to 4
// NARROW_ENTRY(instruction set, nr) defines the entry.
#include "base/half.h"
#include "ops/kernels/narrow_f32.h"

// ---- weights of halves

// Loads VN halves as floats. bf16 is a constant argument. With a pointer to a function instead, compilers would perhaps
// not inline the call.
TAPER_TEMPLATE V widen_half(const bool bf16, const uint16_t *p)
{
    return bf16 ? v_widen_bf16(p) : v_widen_fp16(p);
}

TAPER_TEMPLATE float widen_half_one(const bool bf16, uint16_t half)
{
    return bf16 ? taper_bf16_to_float(half) : taper_f16_to_float(half);
}

// Rows of weights that are read together share the loads of x. Each row has several sums, so that additions overlap.
TAPER_TEMPLATE void half_rows(const size_t rows, const bool bf16, size_t k, const float *x, const uint16_t *w,
                              size_t w_stride, float *y)
{
    const size_t sums = rows == 1 ? 4 : 2;
    V acc[4][4];
    TAPER_UNROLL
    for (size_t r = 0; r < rows; r++) {
        TAPER_UNROLL
        for (size_t s = 0; s < sums; s++)
            acc[r][s] = v_set(0.0f);
    }
    size_t i = 0;
    for (; i + sums * VN <= k; i += sums * VN) {
        TAPER_UNROLL
        for (size_t s = 0; s < sums; s++) {
            const V a = v_load(x + i + s * VN);
            TAPER_UNROLL
            for (size_t r = 0; r < rows; r++)
                acc[r][s] = v_fma(a, widen_half(bf16, w + r * w_stride + i + s * VN), acc[r][s]);
        }
    }
    for (; i + VN <= k; i += VN) {
        const V a = v_load(x + i);
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++)
            acc[r][0] = v_fma(a, widen_half(bf16, w + r * w_stride + i), acc[r][0]);
    }
    TAPER_UNROLL
    for (size_t r = 0; r < rows; r++) {
        V all = v_add(acc[r][0], acc[r][1]);
        if (sums == 4)
            all = v_add(all, v_add(acc[r][2], acc[r][3]));
        float sum = v_sum(all);
        for (size_t j = i; j < k; j++)
            sum += x[j] * widen_half_one(bf16, w[r * w_stride + j]);
        y[r] = sum;
    }
}

TAPER_TEMPLATE void half_gemv(const bool bf16, size_t n, size_t k, const float *x, const uint16_t *w, size_t w_stride,
                              float *y)
{
    size_t i = 0;
    for (; i + HALF_ROWS <= n; i += HALF_ROWS)
        half_rows(HALF_ROWS, bf16, k, x, w + i * w_stride, w_stride, y + i);
    for (; HALF_ROWS > 1 && i < n; i++)
        half_rows(1, bf16, k, x, w + i * w_stride, w_stride, y + i);
}

static void half_gemv_bf16(size_t n, size_t k, const float *x, const uint16_t *w, size_t w_stride, float *y)
{
    half_gemv(true, n, k, x, w, w_stride, y);
}

static void half_gemv_fp16(size_t n, size_t k, const float *x, const uint16_t *w, size_t w_stride, float *y)
{
    half_gemv(false, n, k, x, w, w_stride, y);
}

// ---- scales and zero points

enum { MOST_NUMBERS = 2 * 32 }; // largest number of scales and zero points in a group

// Returns the scales of a group as floats, followed by its zero points. Halves are converted into `floats`.
TAPER_TEMPLATE const float *numbers_of(const size_t vectors, const taper_narrow_numbers kind, const bool has_points,
                                       const void *group, float *floats)
{
    if (kind == TAPER_NARROW_F32)
        return group;
    const size_t count = vectors * (has_points ? 2 : 1);
    for (size_t v = 0; v < count; v++)
        v_store(floats + v * VN, widen_half(kind == TAPER_NARROW_BF16, (const uint16_t *)group + v * VN));
    return floats;
}

// ---- panels of integers: `vectors` of VN outputs, each with `chains` partial sums, whose additions overlap

enum { CHAINS_IN_ALL = 8, NIBBLES = 8 };

TAPER_TEMPLATE V join(const size_t chains, const V *chain)
{
    V sum = chain[0];
    TAPER_UNROLL
    for (size_t c = 1; c < chains; c++)
        sum = v_add(sum, chain[c]);
    return sum;
}

// Adds the products of one group's weights and x to acc. points is NULL if all zero points are 0.
TAPER_TEMPLATE void add_bytes(const size_t vectors, const size_t chains, size_t count, const float *x, const int8_t *w,
                              const float *points, V (*acc)[CHAINS_IN_ALL])
{
    size_t k = 0;
    for (; k + chains <= count; k += chains) {
        TAPER_UNROLL
        for (size_t c = 0; c < chains; c++) {
            const V a = v_set(x[k + c]);
            TAPER_UNROLL
            for (size_t v = 0; v < vectors; v++) {
                const V q = v_bytes(w + ((k + c) * vectors + v) * VN);
                acc[v][c] = v_fma(a, points != NULL ? v_sub(q, v_load(points + v * VN)) : q, acc[v][c]);
            }
        }
    }
    for (; k < count; k++) {
        const V a = v_set(x[k]);
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++) {
            const V q = v_bytes(w + (k * vectors + v) * VN);
            acc[v][0] = v_fma(a, points != NULL ? v_sub(q, v_load(points + v * VN)) : q, acc[v][0]);
        }
    }
}

TAPER_TEMPLATE void add_nibbles(const size_t vectors, const size_t chains, size_t count, const float *x,
                                const uint32_t *w, const float *points, V (*acc)[CHAINS_IN_ALL])
{
    for (size_t k = 0; k < count; k += NIBBLES, w += vectors * VN) {
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++) {
            const VI words = v_words(w + v * VN);
            TAPER_UNROLL
            for (int i = 0; i < NIBBLES; i++) {
                const V q = v_nibble(words, i);
                acc[v][(size_t)i % chains] =
                    v_fma(v_set(x[k + (size_t)i]), points != NULL ? v_sub(q, v_load(points + v * VN)) : q,
                          acc[v][(size_t)i % chains]);
            }
        }
    }
}

TAPER_TEMPLATE void panel_of(const size_t vectors, const unsigned bits, const bool has_points,
                             const taper_narrow_format *format, size_t groups, const float *x, const char *panel,
                             float *y)
{
    const taper_narrow_numbers kind = format->numbers;
    const size_t group = format->group, number_bytes = taper_narrow_number_bytes(format, vectors * VN),
                 group_bytes = taper_narrow_group_bytes(format, vectors * VN);
    const size_t nr = vectors * VN, chains = CHAINS_IN_ALL / vectors > 0 ? CHAINS_IN_ALL / vectors : 1;
    V total[8];
    TAPER_UNROLL
    for (size_t v = 0; v < vectors; v++)
        total[v] = v_set(0.0f);
    for (size_t g = 0; g < groups; g++, x += group) {
        float floats[MOST_NUMBERS];
        const float *scales = numbers_of(vectors, kind, has_points, panel, floats), *points = scales + nr;
        const void *weights = panel + number_bytes;
        V acc[8][CHAINS_IN_ALL];
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++) {
            TAPER_UNROLL
            for (size_t c = 0; c < chains; c++)
                acc[v][c] = v_set(0.0f);
        }
        if (bits == 4)
            add_nibbles(vectors, chains, group, x, weights, has_points ? points : NULL, acc);
        else
            add_bytes(vectors, chains, group, x, weights, has_points ? points : NULL, acc);
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++)
            total[v] = v_fma(v_load(scales + v * VN), join(chains, acc[v]), total[v]);
        panel += group_bytes;
    }
    TAPER_UNROLL
    for (size_t v = 0; v < vectors; v++)
        v_store(y + v * VN, total[v]);
}

TAPER_TEMPLATE void gemv_panel_of(const size_t vectors, const taper_narrow_format *format, size_t groups,
                                  const float *x, const void *panel, float *y)
{
    if (format->bits == 4 && !format->points)
        panel_of(vectors, 4, false, format, groups, x, panel, y);
    else if (format->bits == 4)
        panel_of(vectors, 4, true, format, groups, x, panel, y);
    else if (!format->points)
        panel_of(vectors, 8, false, format, groups, x, panel, y);
    else
        panel_of(vectors, 8, true, format, groups, x, panel, y);
}

// ---- floats of a panel, for the kernels of gemm_f32.h

TAPER_TEMPLATE void widen_panel_of(const size_t vectors, const taper_narrow_format *format, const void *group,
                                   size_t first, size_t count, float *to)
{
    const size_t nr = vectors * VN;
    float floats[MOST_NUMBERS];
    const float *scales = numbers_of(vectors, format->numbers, format->points, group, floats), *points = scales + nr;
    const void *weights = (const char *)group + taper_narrow_number_bytes(format, nr);
    const V zero = v_set(0.0f);
    if (format->bits == 4) {
        const uint32_t *w = (const uint32_t *)weights + first / NIBBLES * nr;
        for (size_t k = 0; k < count; k += NIBBLES, w += nr, to += NIBBLES * nr) {
            TAPER_UNROLL
            for (size_t v = 0; v < vectors; v++) {
                const VI words = v_words(w + v * VN);
                const V scale = v_load(scales + v * VN), point = format->points ? v_load(points + v * VN) : zero;
                TAPER_UNROLL
                for (int i = 0; i < NIBBLES; i++)
                    v_store(to + (size_t)i * nr + v * VN, v_mul(v_sub(v_nibble(words, i), point), scale));
            }
        }
        return;
    }
    const int8_t *w = (const int8_t *)weights + first * nr;
    for (size_t k = 0; k < count; k++, w += nr, to += nr) {
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++) {
            const V point = format->points ? v_load(points + v * VN) : zero;
            v_store(to + v * VN, v_mul(v_sub(v_bytes(w + v * VN), point), v_load(scales + v * VN)));
        }
    }
}

#define NARROW_ENTRY(isa, width)                                                                                       \
    static void gemv_panel(const taper_narrow_format *format, size_t groups, const float *x, const void *panel,        \
                           float *y)                                                                                   \
    {                                                                                                                  \
        gemv_panel_of((width) / VN, format, groups, x, panel, y);                                                      \
    }                                                                                                                  \
    static void widen_panel(const taper_narrow_format *format, const void *group, size_t first, size_t count,          \
                            float *to)                                                                                 \
    {                                                                                                                  \
        widen_panel_of((width) / VN, format, group, first, count, to);                                                 \
    }                                                                                                                  \
    const taper_narrow_entry taper_narrow_f32_##isa = {.name = #isa,                                                   \
                                                       .cpu = TAPER_ISA_##isa,                                         \
                                                       .nr = (width),                                                  \
                                                       .gemv_bf16 = half_gemv_bf16,                                    \
                                                       .gemv_fp16 = half_gemv_fp16,                                    \
                                                       .gemv_panel = gemv_panel,                                       \
                                                       .widen_panel = widen_panel};
