// SPDX-License-Identifier: BSD-2-Clause
// Part of vector_f32_fold_tmpl.h: sums that leave out NaN, and distances.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_SUMS_TMPL_H
#define TAPER_OPS_KERNELS_VECTOR_F32_SUMS_TMPL_H

TAPER_TEMPLATE V plus_number(V s, V x)
{
    return v_add(s, v_pick(v_nan(x), v_set(0.0f), x));
}
SUM_OF(numbers, plus_number)

// Adds the contribution of a distance d to a sum s.
TAPER_TEMPLATE V plus_power(V s, V d, V p)
{
    return v_add(s, v_exp(v_mul(p, v_log(d))));
}
TAPER_TEMPLATE V plus_different(V s, V d, V p)
{
    (void)p;
    return v_add(s, v_pick(v_less(v_set(0.0f), d), v_set(1.0f),
                           d)); // adds 1 if d is positive, otherwise d itself, which is 0 or NaN
}
TAPER_TEMPLATE V plus_distance(V s, V d, V p)
{
    (void)p;
    return v_add(s, d);
}
TAPER_TEMPLATE V plus_distance_square(V s, V d, V p)
{
    (void)p;
    return v_fma(d, d, s);
}
TAPER_TEMPLATE V or_distance(V s, V d, V p)
{
    (void)p;
    return v_maximum(s, d);
}
#define DISTANCES(name, step)                                                                                          \
    static void distances_##name(size_t rows, size_t n, const float *x, const float *y, size_t y_stride, float p,      \
                                 float *out)                                                                           \
    {                                                                                                                  \
        const V power = v_set(p);                                                                                      \
        size_t c = 0;                                                                                                  \
        for (; c + 4 * VN <= n; c += 4 * VN) {                                                                         \
            V s[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};                                             \
            for (size_t r = 0; r < rows; r++) {                                                                        \
                const V a = v_set(x[r]);                                                                               \
                TAPER_UNROLL                                                                                           \
                for (size_t j = 0; j < 4; j++)                                                                         \
                    s[j] = step(s[j], v_abs(v_sub(a, v_load(y + r * y_stride + c + j * VN))), power);                  \
            }                                                                                                          \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < 4; j++)                                                                             \
                v_store(out + c + j * VN, s[j]);                                                                       \
        }                                                                                                              \
        for (; c < n; c += VN) {                                                                                       \
            const VT t = v_first(n - c < VN ? n - c : VN);                                                             \
            V s = v_set(0.0f);                                                                                         \
            for (size_t r = 0; r < rows; r++)                                                                          \
                s = step(s, v_abs(v_sub(v_set(x[r]), v_load_t(y + r * y_stride + c, t))), power);                      \
            v_store_t(out + c, s, t);                                                                                  \
        }                                                                                                              \
    }
DISTANCES(sum, plus_distance)
DISTANCES(squares, plus_distance_square)
DISTANCES(powers, plus_power)
DISTANCES(most, or_distance)
DISTANCES(different, plus_different)
#undef DISTANCES

#endif
