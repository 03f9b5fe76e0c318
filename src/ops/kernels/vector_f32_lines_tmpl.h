// SPDX-License-Identifier: BSD-2-Clause
// Part of vector_f32_fold_tmpl.h: short lines, and products of columns.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_LINES_TMPL_H
#define TAPER_OPS_KERNELS_VECTOR_F32_LINES_TMPL_H

// Reduces several lines at a time, one for each lane of a vector. The vectors of the lines are transposed, and then
// reduced side by side. n is at least VN. If a maximum or minimum may be NaN, the lines are read again.
#define LINES_OF(name, step, last, is_sum)                                                                             \
    static void lines_##name(size_t lines, size_t n, const float *x, size_t x_stride, float *out)                      \
    {                                                                                                                  \
        for (size_t l = 0; l < lines; l += VN) {                                                                       \
            const size_t count = lines - l < VN ? lines - l : VN;                                                      \
            V made[VN], bad = v_set(0.0f);                                                                             \
            for (size_t j = 0; j < count; j++) {                                                                       \
                const float *p = x + (l + j) * x_stride;                                                               \
                V s = v_load(p);                                                                                       \
                bad = is_sum ? bad : v_pick(v_nan(s), s, bad);                                                         \
                size_t i = VN;                                                                                         \
                for (; i + VN <= n; i += VN) {                                                                         \
                    const V a = v_load(p + i);                                                                         \
                    s = step(s, a);                                                                                    \
                    bad = is_sum ? bad : v_pick(v_nan(a), a, bad);                                                     \
                }                                                                                                      \
                if (i < n) {                                                                                           \
                    const V a = last;                                                                                  \
                    s = step(s, a);                                                                                    \
                    bad = is_sum ? bad : v_pick(v_nan(a), a, bad);                                                     \
                }                                                                                                      \
                made[j] = s;                                                                                           \
            }                                                                                                          \
            for (size_t j = count; j < VN; j++)                                                                        \
                made[j] = made[0];                                                                                     \
            if (!is_sum && v_sum(bad) != 0.0f) {                                                                       \
                for (size_t j = 0; j < count; j++)                                                                     \
                    out[l + j] = fold_##name(n, x + (l + j) * x_stride);                                               \
                continue;                                                                                              \
            }                                                                                                          \
            v_transpose(made);                                                                                         \
            TAPER_UNROLL                                                                                               \
            for (size_t width = VN / 2; width != 0; width /= 2) {                                                      \
                TAPER_UNROLL                                                                                           \
                for (size_t j = 0; j < width; j++)                                                                     \
                    made[j] = step(made[j], made[j + width]);                                                          \
            }                                                                                                          \
            v_store_t(out + l, made[0], v_first(count));                                                               \
        }                                                                                                              \
    }
LINES_OF(sum, v_add, v_load_t(p + i, v_first(n - i)), 1)
LINES_OF(most, v_max, v_load(p + n - VN), 0)
LINES_OF(least, v_min, v_load(p + n - VN), 0)
#undef LINES_OF

// Computes products of columns. Returns false if there are too few columns, or if an intermediate product over- or
// underflows.
static bool multiply_rows(size_t rows, size_t columns, const float *x, size_t x_stride, float *out)
{
    V least = v_set(FLT_MAX), most = v_set(0.0f);
    for (size_t c = 0; c < columns && columns >= 2 * VN; c += 2 * VN) {
        const size_t at = c + 2 * VN <= columns ? c : columns - 2 * VN; // the last block overlaps the previous block
        V p[2];
        TAPER_UNROLL
        for (size_t j = 0; j < 2; j++)
            p[j] = v_load(x + at + j * VN);
        for (size_t r = 1; r < rows; r++) {
            TAPER_UNROLL
            for (size_t j = 0; j < 2; j++) {
                // The last product is not checked, because its single rounding is the rounding of the result.
                const V a = v_abs(p[j]);
                least = v_min(a, least);
                most = v_max(a, most);
                p[j] = v_mul(p[j], v_load(x + r * x_stride + at + j * VN));
            }
        }
        TAPER_UNROLL
        for (size_t j = 0; j < 2; j++)
            v_store(out + at + j * VN, p[j]);
    }
    float bounds[2 * VN];
    v_store(bounds, least);
    v_store(bounds + VN, most);
    int beyond = columns < 2 * VN;
    for (size_t k = 0; k < VN; k++)
        beyond |= !((bounds[k] >= FLT_MIN) & (bounds[k + VN] <= FLT_MAX));
    return beyond == 0;
}

#endif
