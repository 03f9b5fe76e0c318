// SPDX-License-Identifier: BSD-2-Clause
// The bodies of the kernels of vector_f32.h, written with the functions of simd_scalar.h. The including file defines
// nothing else; VECTOR_ENTRY(instruction set) at its end defines the entry.
#include <math.h>

#include "ops/kernels/math_f32_more_tmpl.h"
#include "ops/kernels/vector_f32.h"

TAPER_TEMPLATE V v_clamp(V x, V low, V high)
{
    return v_min(high, v_max(low, x));
}

// ---- elementwise

// clang-format off: one line each
TAPER_TEMPLATE V op_clamp(V x, const V *p)
{
    return v_clamp(x, p[0], p[1]);
}
TAPER_TEMPLATE V op_affine(V x, const V *p)
{
    return v_clamp(v_fma(x, p[0], p[1]), p[2], p[3]);
}
TAPER_TEMPLATE V op_leaky_relu(V x, const V *p)
{
    return v_pick(v_less(x, v_set(0.0f)), v_mul(x, p[0]), x);
}
// clang-format on
TAPER_TEMPLATE V op_elu(V x, const V *p)
{
    const V negative = v_mul(v_expm1(v_mul(x, p[2])), p[0]);
    return v_pick(v_less(v_set(0.0f), x), v_mul(x, p[1]), negative);
}
TAPER_TEMPLATE V op_hardsigmoid(V x, const V *p)
{
    (void)p;
    return v_mul(v_clamp(v_add(x, v_set(3.0f)), v_set(0.0f), v_set(6.0f)), v_set(1.0f / 6.0f));
}
TAPER_TEMPLATE V op_hardswish(V x, const V *p)
{
    return v_mul(x, op_hardsigmoid(x, p)); // this order of multiplications does not overflow
}
#define PLAIN(name)                                                                                                    \
    TAPER_TEMPLATE V op_##name(V x, const V *p)                                                                        \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        return v_##name(x);                                                                                            \
    }
TAPER_TEMPLATE V v_silu(V x)
{
    return v_mul(x, v_sigmoid(x));
}
TAPER_TEMPLATE V v_squared(V x)
{
    return v_mul(x, x);
}
TAPER_TEMPLATE V v_neg(V x)
{
    return v_sub(v_set(-0.0f), x);
}
TAPER_TEMPLATE V v_reciprocal(V x)
{
    return v_div(v_set(1.0f), x);
}
TAPER_TEMPLATE V v_rsqrt(V x)
{
    return v_div(v_set(1.0f), v_sqrt(x));
}
TAPER_TEMPLATE V v_cubed(V x)
{
    return v_mul(v_mul(x, x), x);
}
TAPER_TEMPLATE V v_number_sign(V x)
{
    const V negative = v_pick(v_less(x, v_set(0.0f)), v_set(-1.0f), v_set(0.0f));
    return v_pick(v_less(v_set(0.0f), x), v_set(1.0f), negative);
}
// Returns true if all lanes are below a bound. A lane that is NaN is not below the bound.
TAPER_TEMPLATE int v_all_less(V x, float bound)
{
    return v_sum(v_pick(v_less(x, v_set(bound)), v_set(0.0f), v_set(1.0f))) == 0.0f;
}
// Returns `near` in lanes that are below the bound, and the result of the C library's function in other lanes. An
// element's result does not depend on its neighbours.
TAPER_TEMPLATE V v_unless_below(float bound, V near, float (*function)(float), V x)
{
    if (v_all_less(v_abs(x), bound))
        return near;
    float lanes[VN];
    v_store(lanes, x);
    for (size_t i = 0; i < VN; i++)
        lanes[i] = function(lanes[i]);
    return v_pick(v_less(v_abs(x), v_set(bound)), near, v_load(lanes));
}
TAPER_TEMPLATE V v_sin(V x)
{
    return v_unless_below(8192.0f, v_sin_turned(x, 0.0f), sinf, x);
}
TAPER_TEMPLATE V v_cos(V x)
{
    return v_unless_below(8192.0f, v_sin_turned(x, 0.5f), cosf, x);
}
TAPER_TEMPLATE V v_tan(V x)
{
    return v_unless_below(8192.0f, v_tan_turned(x), tanf, x);
}
TAPER_TEMPLATE V v_frac(V x)
{
    return v_sub(x, v_trunc(x));
}
// Computes log(x / (1 - x)), with x clamped to [p[0], 1 - p[0]]. If p[0] is negative, x is not clamped.
TAPER_TEMPLATE V op_logit(V x, const V *p)
{
    const V inside = v_clamp(x, p[0], v_sub(v_set(1.0f), p[0]));
    return v_logit(v_pick(v_less(p[0], v_set(0.0f)), x, inside));
}
TAPER_TEMPLATE V op_softplus(V x, const V *p)
{
    return v_softplus(x, p[0], p[1]);
}
TAPER_TEMPLATE V op_sign(V x, const V *p)
{
    (void)p;
    return v_number_sign(x);
}
PLAIN(neg)
PLAIN(log)
PLAIN(log1p)
PLAIN(sin)
PLAIN(cos)
PLAIN(reciprocal)
PLAIN(rsqrt)
PLAIN(cubed)
PLAIN(round)
PLAIN(floor)
PLAIN(ceil)
PLAIN(trunc)
PLAIN(mish)
PLAIN(log_sigmoid)
PLAIN(sigmoid)
PLAIN(silu)
PLAIN(gelu)
PLAIN(gelu_tanh)
PLAIN(tanh)
PLAIN(exp)
PLAIN(expm1)
PLAIN(sqrt)
PLAIN(squared)
PLAIN(abs)
PLAIN(erf)
PLAIN(erfc)
PLAIN(erfinv)
PLAIN(exp2)
PLAIN(log2)
PLAIN(log10)
PLAIN(atan)
PLAIN(asin)
PLAIN(acos)
PLAIN(tan)
PLAIN(sinh)
PLAIN(cosh)
PLAIN(frac)
#undef PLAIN

#include "ops/kernels/vector_f32_more_tmpl.h"

#define UNARY(NAME, function, parameters, at_once, built)                                                              \
    static void unary_##function(size_t n, const float *x, float *y, const float *p)                                   \
    {                                                                                                                  \
        V v[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};                                                 \
        const size_t count = (parameters);                                                                             \
        for (size_t j = 0; j < count; j++)                                                                             \
            v[j] = v_set(p[j]);                                                                                        \
        size_t i = 0;                                                                                                  \
        for (; UNARY_AT_ONCE(at_once) > 1 && i + (at_once)*VN <= n; i += (at_once)*VN) {                               \
            V t[at_once];                                                                                              \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < (at_once); j++)                                                                     \
                t[j] = v_load(x + i + j * VN);                                                                         \
            TAPER_UNROLL                                                                                               \
            for (size_t j = 0; j < (at_once); j++)                                                                     \
                v_store(y + i + j * VN, op_##function(t[j], v));                                                       \
        }                                                                                                              \
        for (; i + VN <= n; i += VN)                                                                                   \
            v_store(y + i, op_##function(v_load(x + i), v));                                                           \
        if (i < n) {                                                                                                   \
            const VT t = v_first(n - i);                                                                               \
            v_store_t(y + i, op_##function(v_load_t(x + i, t), v), t);                                                 \
        }                                                                                                              \
    }
TAPER_UNARY_F32(UNARY)
UNARY_FUNCTIONS_MORE(UNARY)
#undef UNARY

TAPER_TEMPLATE V v_prelu(V a, V b)
{
    return v_pick(v_less(v_set(0.0f), a), a, v_mul(a, b));
}
TAPER_TEMPLATE V v_glu(V a, V b)
{
    return v_mul(a, v_sigmoid(b));
}
// Returns the larger operand, or NaN if either operand is NaN. v_max and v_min return NaN only if the second operand is
// NaN, or, in some instruction sets, if either operand is NaN.
TAPER_TEMPLATE V v_maximum(V a, V b)
{
    return SIMD_MAX_KEEPS_NAN ? v_max(a, b) : v_pick(v_nan(a), a, v_max(a, b));
}
TAPER_TEMPLATE V v_minimum(V a, V b)
{
    return SIMD_MAX_KEEPS_NAN ? v_min(a, b) : v_pick(v_nan(a), a, v_min(a, b));
}
// Computes the remainder of a truncated division. The rounded quotient of the magnitudes, truncated to an integer, is
// right or one too large. Below 2^23 the remainder a - q b is exact if products are fused.
TAPER_TEMPLATE V v_fmod(V a, V b)
{
    const V x = v_abs(a), y = v_abs(b), quotient = v_div(x, y);
    const V known = v_pick(v_less(y, v_set(INFINITY)), quotient, v_set(INFINITY));
    if (SIMD_FUSED == 0 || !v_all_less(known, 0x1p23f)) {
        float lanes[VN], divisors[VN];
        v_store(lanes, a);
        v_store(divisors, b);
        for (size_t i = 0; i < VN; i++)
            lanes[i] = fmodf(lanes[i], divisors[i]);
        return v_load(lanes);
    }
    const V r = v_fma(v_sub(v_set(0.0f), v_floor(quotient)), y, x);
    return v_sign(v_add(r, v_pick(v_less(r, v_set(0.0f)), y, v_set(0.0f))), a);
}
TAPER_TEMPLATE V v_remainder(V a, V b)
{
    const V r = v_fmod(a, b), below = v_pick(v_less(b, v_set(0.0f)), b, v_set(0.0f)),
            above = v_pick(v_less(v_set(0.0f), b), b, v_set(0.0f));
    const V turned = v_pick(v_less(r, v_set(0.0f)), v_add(r, above), r);
    return v_pick(v_less(v_set(0.0f), r), v_add(r, below), turned);
}

// Computes the quotient from the remainder. A quotient that is computed by a division may round up to an integer, and
// is then one too large.
TAPER_TEMPLATE V v_div_floor(V a, V b)
{
    const V zero = v_set(0.0f), one = v_set(1.0f), r = v_fmod(a, b), quotient = v_div(a, b);
    V d = v_div(v_sub(a, r), b);
    const V below = v_pick(v_less(zero, r), one, zero), above = v_pick(v_less(r, zero), one, zero);
    d = v_sub(d, v_pick(v_less(b, zero), below, v_pick(v_less(zero, b), above, zero)));
    const V low = v_floor(d), whole = v_add(low, v_pick(v_less(v_set(0.5f), v_sub(d, low)), one, zero));
    const V result = v_pick(v_less(zero, v_abs(d)), whole, v_pick(v_nan(d), d, v_sign(zero, quotient)));
    return v_pick(v_less(zero, v_abs(b)), result, quotient);
}

#define BINARY_AS(op, kind, load_a, load_b, tail_a, tail_b)                                                            \
    static void binary_##op##_##kind(size_t n, const float *a, const float *b, float *y, float min, float max)         \
    {                                                                                                                  \
        const V low = v_set(min), high = v_set(max);                                                                   \
        const V sa = v_set(n > 0 ? *a : 0.0f), sb = v_set(n > 0 ? *b : 0.0f);                                          \
        (void)sa, (void)sb;                                                                                            \
        size_t i = 0;                                                                                                  \
        for (; i + VN <= n; i += VN)                                                                                   \
            v_store(y + i, v_clamp(v_##op(load_a, load_b), low, high));                                                \
        if (i < n) {                                                                                                   \
            const VT t = v_first(n - i);                                                                               \
            v_store_t(y + i, v_clamp(v_##op(tail_a, tail_b), low, high), t);                                           \
        }                                                                                                              \
    }
#define BINARY(op)                                                                                                     \
    BINARY_AS(op, vv, v_load(a + i), v_load(b + i), v_load_t(a + i, t), v_load_t(b + i, t))                            \
    BINARY_AS(op, vs, v_load(a + i), sb, v_load_t(a + i, t), sb)                                                       \
    BINARY_AS(op, sv, sa, v_load(b + i), sa, v_load_t(b + i, t))
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(prelu)
BINARY_FUNCTIONS_MORE(BINARY)
#undef BINARY
#define BINARY(op) BINARY_AS(op, vv, v_load(a + i), v_load(b + i), v_load_t(a + i, t), v_load_t(b + i, t))
BINARY_VECTOR_FUNCTIONS_MORE(BINARY)
#undef BINARY
#undef BINARY_AS

static void blend(size_t n, const float *a, const float *b, float wa, float wb, float *y)
{
    const V va = v_set(wa), vb = v_set(wb);
    size_t i = 0;
    for (; i + VN <= n; i += VN)
        v_store(y + i, v_fma(v_load(a + i), va, v_mul(v_load(b + i), vb)));
    if (i < n) {
        const VT t = v_first(n - i);
        v_store_t(y + i, v_fma(v_load_t(a + i, t), va, v_mul(v_load_t(b + i, t), vb)), t);
    }
}

static void channels(size_t rows, size_t count, const float *x, size_t x_stride, const float *scale, const float *shift,
                     float *y, size_t y_stride, float min, float max)
{
    const V low = v_set(min), high = v_set(max), one = v_set(1.0f);
    for (size_t r = 0; r < rows; r++, x += x_stride, y += y_stride) {
        size_t c = channels_at_once(count, x, scale, shift, y, low, high);
        for (; c < count; c += VN) {
            if (c + VN <= count) {
                V v = v_load(x + c);
                if (shift == NULL) {
                    v = v_mul(v, scale != NULL ? v_load(scale + c) : one);
                } else {
                    v = v_fma(v, scale != NULL ? v_load(scale + c) : one, v_load(shift + c));
                }
                v_store(y + c, v_clamp(v, low, high));
            } else {
                const VT t = v_first(count - c);
                const V s = scale != NULL ? v_load_t(scale + c, t) : one;
                const V v =
                    shift == NULL ? v_mul(v_load_t(x + c, t), s) : v_fma(v_load_t(x + c, t), s, v_load_t(shift + c, t));
                v_store_t(y + c, v_clamp(v, low, high), t);
            }
        }
    }
}

#include "ops/kernels/vector_f32_fold_tmpl.h"

// ---- pooling and resizing of NHWC

// Computes `vectors` vectors of channels. A single vector has only the lanes of t.
TAPER_TEMPLATE void max_pool_block(const size_t vectors, size_t taps, const float *const *a, size_t a_tap_stride,
                                   size_t a_offset, float *y, VT t)
{
    V best[4];
    const float *from = taper_f32_at(a[0], a_offset);
    TAPER_UNROLL
    for (size_t j = 0; j < vectors; j++)
        best[j] = vectors > 1 ? v_load(from + j * VN) : v_load_t(from, t);
    for (size_t tap = 1; tap < taps; tap++) {
        from = taper_f32_at(a[tap * a_tap_stride], a_offset);
        TAPER_UNROLL
        for (size_t j = 0; j < vectors; j++)
            best[j] = v_maximum(best[j], vectors > 1 ? v_load(from + j * VN) : v_load_t(from, t));
    }
    TAPER_UNROLL
    for (size_t j = 0; j < vectors; j++) {
        if (vectors > 1)
            v_store(y + j * VN, best[j]);
        else
            v_store_t(y, best[j], t);
    }
}

static void max_pool(size_t m, size_t count, size_t taps, const float *const *a, size_t a_tap_stride, size_t a_offset,
                     float *y, size_t y_stride)
{
    for (size_t i = 0; i < m; i++, a++, y += y_stride) {
        size_t c = 0;
        for (; c + 4 * VN <= count; c += 4 * VN)
            max_pool_block(4, taps, a, a_tap_stride, a_offset + c * sizeof(float), y + c, v_first(VN));
        for (; c < count; c += VN)
            max_pool_block(1, taps, a, a_tap_stride, a_offset + c * sizeof(float), y + c, v_first(count - c));
    }
}

TAPER_TEMPLATE void avg_pool_block(const size_t vectors, size_t taps, const float *const *a, size_t a_tap_stride,
                                   size_t a_offset, const float *zero, V divisor, float *y, VT t)
{
    V s[4];
    TAPER_UNROLL
    for (size_t j = 0; j < vectors; j++)
        s[j] = v_set(0.0f);
    for (size_t tap = 0; tap < taps; tap++) {
        const float *p = a[tap * a_tap_stride];
        if (p == zero)
            continue;
        p = taper_f32_at(p, a_offset);
        TAPER_UNROLL
        for (size_t j = 0; j < vectors; j++)
            s[j] = v_add(s[j], vectors > 1 ? v_load(p + j * VN) : v_load_t(p, t));
    }
    TAPER_UNROLL
    for (size_t j = 0; j < vectors; j++) {
        if (vectors > 1)
            v_store(y + j * VN, v_div(s[j], divisor));
        else
            v_store_t(y, v_div(s[j], divisor), t);
    }
}

static void avg_pool(size_t m, size_t count, size_t taps, const float *const *a, size_t a_tap_stride, size_t a_offset,
                     const float *zero, const float *divisors, float *y, size_t y_stride)
{
    for (size_t i = 0; i < m; i++, a++, y += y_stride) {
        const V divisor = v_set(divisors[i]);
        size_t c = 0;
        for (; POOLED_AT_ONCE > 1 && c + POOLED_AT_ONCE * VN <= count; c += POOLED_AT_ONCE * VN)
            avg_pool_block(POOLED_AT_ONCE, taps, a, a_tap_stride, a_offset + c * sizeof(float), zero, divisor, y + c,
                           v_first(VN));
        for (; c < count; c += VN)
            avg_pool_block(1, taps, a, a_tap_stride, a_offset + c * sizeof(float), zero, divisor, y + c,
                           v_first(count - c));
    }
}

// Interpolates along the row first, then down, in the order of PyTorch's loops over planes.
static void bilinear(size_t m, size_t count, const float *const *a, size_t a_tap_stride, size_t a_offset,
                     const float *w, float *y, size_t y_stride)
{
    for (size_t i = 0; i < m; i++, a++, w += 2, y += y_stride) {
        const float *p0 = taper_f32_at(a[0], a_offset), *p1 = taper_f32_at(a[a_tap_stride], a_offset);
        const float *p2 = taper_f32_at(a[2 * a_tap_stride], a_offset),
                    *p3 = taper_f32_at(a[3 * a_tap_stride], a_offset);
        const V right = v_set(w[0]), left = v_set(1.0f - w[0]), bottom = v_set(w[1]), top = v_set(1.0f - w[1]);
        size_t c = 0;
        for (; BILINEAR_WHOLE && c + VN <= count; c += VN) {
            const V u = v_fma(v_load(p1 + c), right, v_mul(v_load(p0 + c), left));
            const V d = v_fma(v_load(p3 + c), right, v_mul(v_load(p2 + c), left));
            v_store(y + c, v_fma(d, bottom, v_mul(u, top)));
        }
        for (; c < count; c += VN) {
            const VT t = v_first(count - c);
            const V u = v_fma(v_load_t(p1 + c, t), right, v_mul(v_load_t(p0 + c, t), left));
            const V d = v_fma(v_load_t(p3 + c, t), right, v_mul(v_load_t(p2 + c, t), left));
            v_store_t(y + c, v_fma(d, bottom, v_mul(u, top)), t);
        }
    }
}

// ---- reordering elements

static void every_second(size_t n, const float *x, float *y)
{
    size_t i = 0;
    for (; i + VN < n; i += VN)
        v_store(y + i, v_even(v_load(x + 2 * i), v_load(x + 2 * i + VN)));
    if (i < n) {
        const size_t left = 2 * (n - i) - 1;
        const V a = v_load_t(x + 2 * i, v_first(left < VN ? left : VN));
        const V b = left > VN ? v_load_t(x + 2 * i + VN, v_first(left - VN)) : a;
        v_store_t(y + i, v_even(a, b), v_first(n - i));
    }
}

// Transposes three channels to pixels, the input of most networks. Returns the number of columns that are done.
static size_t interleave(size_t columns, const float *x, size_t x_stride, float *y)
{
    size_t c = 0;
    for (; c + VN <= columns; c += VN)
        v_store3(y + 3 * c, v_load(x + c), v_load(x + x_stride + c), v_load(x + 2 * x_stride + c));
    return c;
}

static void turn_square(const float *x, size_t x_stride, float *y, size_t y_stride)
{
    V v[VN];
    TAPER_UNROLL
    for (size_t i = 0; i < VN; i++, x += x_stride)
        v[i] = v_load(x);
    v_transpose(v);
    TAPER_UNROLL
    for (size_t i = 0; i < VN; i++, y += y_stride)
        v_store(y, v[i]);
}

// Transposes a part of a square. The loops have constant lengths, so the compiler keeps the vectors in registers.
static void turn_part(size_t rows, size_t columns, const float *x, size_t x_stride, float *y, size_t y_stride)
{
    if (transpose_corner(rows, columns, x, x_stride, y, y_stride))
        return;
    const VT ct = v_first(columns), rt = v_first(rows);
    V v[VN];
    TAPER_UNROLL
    for (size_t i = 0; i < VN; i++)
        v[i] = i < rows ? v_load_t(x + i * x_stride, ct) : v_set(0.0f);
    v_transpose(v);
    TAPER_UNROLL
    for (size_t i = 0; i < VN; i++) {
        if (i < columns)
            v_store_t(y + i * y_stride, v[i], rt);
    }
}

static void transpose(size_t rows, size_t columns, const float *x, size_t x_stride, float *y, size_t y_stride)
{
    if (rows == 3 && y_stride == 3) {
        const size_t done = interleave(columns, x, x_stride, y);
        x += done;
        y += 3 * done;
        columns -= done;
    }
    if (transpose_narrow(rows, columns, x, x_stride, y, y_stride))
        return;
    for (size_t c = 0; c < columns; c += VN) {
        const size_t cn = columns - c < VN ? columns - c : VN;
        for (size_t r = 0; r < rows; r += VN) {
            const size_t rn = rows - r < VN ? rows - r : VN;
            const float *from = x + r * x_stride + c;
            float *to = y + c * y_stride + r;
            if (cn == VN && rn == VN) {
                turn_square(from, x_stride, to, y_stride);
            } else {
                turn_part(rn, cn, from, x_stride, to, y_stride);
            }
        }
    }
}

// ---- gemv: products of a matrix and a vector

TAPER_TEMPLATE void gemv_rows(const size_t rows, size_t k, const float *x, const float *w, size_t w_stride,
                              const float *bias, float *y, float min, float max)
{
    V acc[4][2];
    TAPER_UNROLL
    for (size_t r = 0; r < rows; r++)
        acc[r][0] = acc[r][1] = v_set(0.0f);
    size_t i = 0;
#ifdef SIMD_TAKES_4
    const float *from = x, *p[4] = {w, w + w_stride, w + 2 * w_stride, w + 3 * w_stride};
    for (; i + 4 * VN <= k; i += 4 * VN) {
        V a[4], b[4];
        v_take_4(&from, a);
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++) {
            v_take_4(&p[r], b);
            TAPER_UNROLL
            for (size_t j = 0; j < 4; j++)
                acc[r][j % 2] = v_fma(a[j], b[j], acc[r][j % 2]);
        }
    }
#endif
    for (; i + 2 * VN <= k; i += 2 * VN) {
        const V a = v_load(x + i), b = v_load(x + i + VN);
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++) {
            acc[r][0] = v_fma(a, v_load(w + r * w_stride + i), acc[r][0]);
            acc[r][1] = v_fma(b, v_load(w + r * w_stride + i + VN), acc[r][1]);
        }
    }
    for (; i < k; i += VN) {
        const VT t = v_first(k - i);
        const V a = v_load_t(x + i, t);
        TAPER_UNROLL
        for (size_t r = 0; r < rows; r++)
            acc[r][0] = v_fma(a, v_load_t(w + r * w_stride + i, t), acc[r][0]);
    }
    TAPER_UNROLL
    for (size_t r = 0; r < rows; r++) {
        float s = v_sum(v_add(acc[r][0], acc[r][1])) + (bias != NULL ? bias[r] : 0.0f);
        s = s < min ? min : s;
        y[r] = s > max ? max : s;
    }
}

static void gemv(size_t n, size_t k, const float *x, const float *w, size_t w_stride, const float *bias, float *y,
                 float min, float max)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        gemv_rows(4, k, x, w + i * w_stride, w_stride, bias != NULL ? bias + i : NULL, y + i, min, max);
    for (; i < n; i++)
        gemv_rows(1, k, x, w + i * w_stride, w_stride, bias != NULL ? bias + i : NULL, y + i, min, max);
}

#if TAPER_ATTENDS && defined(GEMV_STREAMS)
static void gemv_stream(size_t n, size_t k, const float *x, const float *w, size_t w_stride, const float *bias,
                        float *y, float min, float max)
{
    for (size_t i = 0; i < n; i++)
        gemv_rows(1, k, x, w + i * w_stride, w_stride, bias != NULL ? bias + i : NULL, y + i, min, max);
}
#define GEMV_STREAM gemv_stream
#else
#define GEMV_STREAM NULL
#endif

// ---- recurrent cells

TAPER_TEMPLATE V v_lstm_cell(V in, V forget, V cell, V out, V *c)
{
    *c = v_fma(v_sigmoid(forget), *c, v_mul(v_sigmoid(in), v_tanh(cell)));
    return v_mul(v_sigmoid(out), v_tanh(*c));
}

static void lstm_cell(size_t n, const float *gates, size_t step, float *c, float *h)
{
    const float *in = gates, *forget = in + step, *cell = forget + step, *out = cell + step;
    size_t i = 0;
    for (; i + VN <= n; i += VN) {
        V next = v_load(c + i);
        v_store(h + i, v_lstm_cell(v_load(in + i), v_load(forget + i), v_load(cell + i), v_load(out + i), &next));
        v_store(c + i, next);
    }
    if (i < n) {
        const VT t = v_first(n - i);
        V next = v_load_t(c + i, t);
        const V state = v_lstm_cell(v_load_t(in + i, t), v_load_t(forget + i, t), v_load_t(cell + i, t),
                                    v_load_t(out + i, t), &next);
        v_store_t(h + i, state, t);
        v_store_t(c + i, next, t);
    }
}

TAPER_TEMPLATE V v_gru_cell(V reset, V update, V fresh, V of_state, V before)
{
    const V next = v_tanh(v_fma(v_sigmoid(reset), of_state, fresh));
    return v_fma(v_sub(before, next), v_sigmoid(update), next);
}

static void gru_cell(size_t n, const float *gates, size_t step, const float *of_state, const float *before, float *h)
{
    const float *reset = gates, *update = reset + step, *fresh = update + step;
    size_t i = 0;
    for (; i + VN <= n; i += VN)
        v_store(h + i, v_gru_cell(v_load(reset + i), v_load(update + i), v_load(fresh + i), v_load(of_state + i),
                                  v_load(before + i)));
    if (i < n) {
        const VT t = v_first(n - i);
        v_store_t(h + i,
                  v_gru_cell(v_load_t(reset + i, t), v_load_t(update + i, t), v_load_t(fresh + i, t),
                             v_load_t(of_state + i, t), v_load_t(before + i, t)),
                  t);
    }
}

#define IF_BUILT(built, function) ((built) ? (function) : NULL)
#define UNARY(NAME, function, parameters, at_once, built) [TAPER_UNARY_##NAME] = IF_BUILT(built, unary_##function),
#define BINARY(function, built)                                                                                        \
    {                                                                                                                  \
        IF_BUILT(built, binary_##function##_vv), IF_BUILT(built, binary_##function##_vs),                              \
            IF_BUILT(built, binary_##function##_sv)                                                                    \
    }
#define BINARY_VV(function, built)                                                                                     \
    {                                                                                                                  \
        IF_BUILT(built, binary_##function##_vv)                                                                        \
    }
#define REDUCTIONS(part)                                                                                               \
    IF_BUILT(TAPER_REDUCES, part##sum), IF_BUILT(TAPER_REDUCES, part##squares), IF_BUILT(TAPER_REDUCES, part##abs),    \
        NUMBERS_MORE(part##numbers), IF_BUILT(TAPER_REDUCES, part##most), IF_BUILT(TAPER_REDUCES, part##least)
#define VECTOR_ENTRY(ISA)                                                                                              \
    const taper_vector_entry SIMD(taper_vector_f32) = {                                                                \
        .name = #ISA,                                                                                                  \
        .cpu = TAPER_ISA_##ISA,                                                                                        \
        .lanes = VN,                                                                                                   \
        .unary = {TAPER_UNARY_F32(UNARY) UNARY_ENTRIES_MORE(UNARY)},                                                   \
        .binary = {BINARY(add, 1), BINARY(sub, TAPER_USES(taper_ew_sub) || TAPER_COMPUTES_SOFTMAX), BINARY(mul, 1),    \
                   BINARY(div, TAPER_USES(taper_ew_div)),                                                              \
                   BINARY(prelu, TAPER_USES(taper_op_prelu) || TAPER_USES(taper_ew_prelu)), BINARY_ENTRIES_MORE},      \
        .blend = IF_BUILT(TAPER_INTERPOLATES, blend),                                                                  \
        .channels = channels,                                                                                          \
        .fold = {REDUCTIONS(fold_)},                                                                                   \
        .fold_rows = {REDUCTIONS(rows_)},                                                                              \
        .deviations = IF_BUILT(TAPER_MEASURES, deviations),                                                            \
        .sum_rows = sum_rows,                                                                                          \
        ENTRIES_MORE.softmax = IF_BUILT(TAPER_COMPUTES_SOFTMAX, softmax),                                              \
        .log_softmax = IF_BUILT(TAPER_COMPUTES_SOFTMAX, log_softmax),                                                  \
        .log_sum_exp = IF_BUILT(TAPER_COMPUTES_SOFTMAX, log_sum_exp),                                                  \
        .layer_norm = IF_BUILT(TAPER_NORMS_LAYERS, layer_norm),                                                        \
        .max_pool = IF_BUILT(TAPER_USES(taper_op_max_pool), max_pool),                                                 \
        .avg_pool = avg_pool,                                                                                          \
        .bilinear = IF_BUILT(TAPER_INTERPOLATES, bilinear),                                                            \
        .every_second = every_second,                                                                                  \
        .transpose = transpose,                                                                                        \
        .gemv = gemv,                                                                                                  \
        .gemv_stream = GEMV_STREAM,                                                                                    \
        .lstm_cell = IF_BUILT(TAPER_RECURS, lstm_cell),                                                                \
        .gru_cell = IF_BUILT(TAPER_RECURS, gru_cell),                                                                  \
    };
