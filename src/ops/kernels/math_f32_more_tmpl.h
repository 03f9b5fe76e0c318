// SPDX-License-Identifier: BSD-2-Clause
// More functions in the manner of math_f32_tmpl.h: logarithms and powers of other bases, inverse trigonometric and
// hyperbolic functions, and functions related to the error function.
#ifndef TAPER_KERNELS_MATH_F32_MORE_TMPL_H
#define TAPER_KERNELS_MATH_F32_MORE_TMPL_H

#include "ops/kernels/math_f32_tmpl.h"

// Computes the logarithm to another base: log(1 + f) times `factor`, plus n times the logarithm of 2, which is given in
// two parts.
TAPER_TEMPLATE V v_log_base(V x, const float factor, const float two, const float two_low)
{
    V n, fq;
    const V f = v_log_parts(x, &n, &fq), s = v_mul(f, f);
    const V r = v_add(v_fma(s, v_set(-0.5f), v_mul(fq, s)), f);
    return v_log_edges(x, v_fma(n, v_set(two), v_fma(r, v_set(factor), v_mul(n, v_set(two_low)))));
}
TAPER_TEMPLATE V v_log2(V x) // the result is exact for powers of 2
{
    return v_log_base(x, 1.44269504f, 1.0f, 0.0f);
}
TAPER_TEMPLATE V v_log10(V x)
{
    return v_log_base(x, 0.434294482f, 0.301025390625f, 4.60503898e-06f);
}

TAPER_TEMPLATE V v_exp2(V x)
{
    x = v_min(v_set(129.0f), v_max(v_set(-151.0f), x));
    const V magic = v_set(12582912.0f), t = v_add(x, magic), n = v_sub(t, magic);
    V s1, s2;
    const V p = v_add(v_exp_of(v_mul(v_sub(x, n), v_set(0.693147181f)), t, &s1, &s2), v_set(1.0f));
    return v_mul(v_mul(p, s1), s2);
}

TAPER_TEMPLATE V v_logit(V x)
{
    return v_log(v_div(x, v_sub(v_set(1.0f), x)));
}

// Returns atan(t) for t in [0, 1].
TAPER_TEMPLATE V v_atan_small(V t)
{
    const V s = v_mul(t, t);
    V p = v_fma(v_set(-1.8272130983e-03f), s, v_set(1.1064441875e-02f));
    p = v_fma(p, s, v_set(-3.1455703080e-02f));
    p = v_fma(p, s, v_set(5.8234553784e-02f));
    p = v_fma(p, s, v_set(-8.4194593132e-02f));
    p = v_fma(p, s, v_set(1.0957576334e-01f));
    p = v_fma(p, s, v_set(-1.4265245199e-01f));
    p = v_fma(p, s, v_set(1.9998638332e-01f));
    p = v_fma(p, s, v_set(-3.3333301544e-01f));
    return v_fma(v_mul(p, s), t, t);
}
// These functions return pi / 2 - x and pi - x, with more digits of pi than a float has.
TAPER_TEMPLATE V v_from_quarter(V x)
{
    return v_sub(v_set(1.57079637f), v_add(x, v_set(4.37113883e-08f)));
}
TAPER_TEMPLATE V v_from_half(V x)
{
    return v_sub(v_set(3.14159274f), v_add(x, v_set(8.74227766e-08f)));
}
TAPER_TEMPLATE V v_atan(V x)
{
    const V a = v_abs(x), one = v_set(1.0f);
    const VM large = v_less(one, a);
    const V r = v_atan_small(v_pick(large, v_div(one, a), a));
    return v_sign(v_pick(large, v_from_quarter(r), r), x);
}
// Returns the angle of (x, y). Two infinite operands count as equal; the angle of (0, 0) is 0 or pi.
TAPER_TEMPLATE V v_atan2(V y, V x)
{
    const V a = v_abs(y), b = v_abs(x), zero = v_set(0.0f), one = v_set(1.0f);
    const VM steep = v_less(b, a), flat = v_less(a, b);
    const V alike = v_pick(v_less(zero, a), one, zero);
    const V t = v_pick(steep, v_div(b, a), v_pick(flat, v_div(a, b), alike));
    const V near = v_atan_small(t), r = v_pick(steep, v_from_quarter(near), near);
    const VM left = v_less(v_sign(one, x), zero);
    const V angle = v_sign(v_pick(left, v_from_half(r), r), y);
    return v_pick(v_nan(x), x, v_pick(v_nan(y), y, angle));
}

// Computes asin(x) = x + x^3 p(x^2) for |x| <= 1/2. s is x^2.
TAPER_TEMPLATE V v_asin_small(V x, V s)
{
    V p = v_fma(v_set(3.7565212697e-02f), s, v_set(1.4402597211e-02f));
    p = v_fma(p, s, v_set(3.1817615032e-02f));
    p = v_fma(p, s, v_set(4.4515721500e-02f));
    p = v_fma(p, s, v_set(7.5005106628e-02f));
    p = v_fma(p, s, v_set(1.6666659713e-01f));
    return v_fma(v_mul(p, s), x, x);
}
// Returns asin(x). For a = |x| above 1/2 it follows from half of the angle acos(a) = 2 asin(sqrt((1 - a) / 2)). For |x|
// above 1 the result is NaN.
TAPER_TEMPLATE V v_asin(V x)
{
    const V a = v_abs(x), half = v_mul(v_sub(v_set(1.0f), a), v_set(0.5f));
    const VM small = v_less(a, v_set(0.5f));
    const V r = v_asin_small(v_pick(small, a, v_sqrt(half)), v_pick(small, v_mul(a, a), half));
    return v_sign(v_pick(small, r, v_from_quarter(v_add(r, r))), x);
}
TAPER_TEMPLATE V v_acos(V x)
{
    const V a = v_abs(x), half = v_mul(v_sub(v_set(1.0f), a), v_set(0.5f));
    const VM small = v_less(a, v_set(0.5f));
    const V r = v_asin_small(v_pick(small, x, v_sqrt(half)), v_pick(small, v_mul(a, a), half)), twice = v_add(r, r);
    return v_pick(small, v_from_quarter(r), v_pick(v_less(x, v_set(0.0f)), v_from_half(twice), twice));
}

// Returns tan(x), with x = r + n pi / 2: tan(r), or -1 / tan(r) for odd n. x has the same range as for v_sin_turned.
TAPER_TEMPLATE V v_tan_turned(V x)
{
    const V magic = v_set(12582912.0f), t = v_fma(x, v_set(0.636619772f), magic), n = v_sub(t, magic);
    V r = v_fma(n, v_set(-1.57080078125f), x);
    r = v_fma(n, v_set(4.4535845518e-06f), r);
    r = v_fma(n, v_set(8.7055156955e-10f), r);
    const V s = v_mul(r, r);
    V p = v_fma(v_set(4.4165430591e-03f), s, v_set(4.2399356062e-06f));
    p = v_fma(p, s, v_set(1.0906430893e-02f));
    p = v_fma(p, s, v_set(2.1253440529e-02f));
    p = v_fma(p, s, v_set(5.4065831006e-02f));
    p = v_fma(p, s, v_set(1.3332606852e-01f));
    p = v_fma(p, s, v_set(3.3333352208e-01f));
    p = v_fma(v_mul(p, s), r, r);
    const VM odd = v_less(v_sign(v_set(1.0f), v_of_bits(vi_up31(v_bits(t)))), v_set(0.0f));
    return v_pick(odd, v_div(v_set(-1.0f), p), p);
}

// Uses exp(a / 2) and its square, because exp(a) may be infinite while exp(a) / 2 is finite.
TAPER_TEMPLATE V v_sinh(V x)
{
    const V a = v_abs(x), e = v_expm1(v_min(v_set(9.0f), a)), h = v_exp(v_mul(a, v_set(0.5f)));
    const V near = v_mul(v_set(0.5f), v_add(e, v_div(e, v_add(e, v_set(1.0f)))));
    return v_sign(v_pick(v_less(a, v_set(9.0f)), near, v_mul(v_mul(v_set(0.5f), h), h)), x);
}
TAPER_TEMPLATE V v_cosh(V x)
{
    const V h = v_exp(v_mul(v_abs(x), v_set(0.5f))), half = v_mul(v_set(0.5f), h);
    return v_fma(half, h, v_div(v_set(0.5f), v_mul(h, h)));
}

// Computes erfc(a) = exp(-a^2) p(w) / (1 + a) for a >= 1/2, with w = (a - 3) / (a + 3). The rounding error of the
// square is added back. The square is computed from a high and a low part of `a`, so it needs no FMA.
TAPER_TEMPLATE V v_erfc(V x)
{
    const V whole = v_abs(x), a = v_min(v_set(10.3f), whole), one = v_set(1.0f);
    const V wide = v_mul(a, v_set(4097.0f)), high = v_sub(wide, v_sub(wide, a)), low = v_sub(a, high);
    const V rest = v_mul(low, v_add(a, high));
    const V e = v_mul(v_exp(v_sub(v_set(0.0f), v_mul(high, high))), v_exp(v_sub(v_set(0.0f), rest)));
    const V w = v_div(v_sub(a, v_set(3.0f)), v_add(a, v_set(3.0f)));
    V p = v_fma(v_set(-2.7630446129e-04f), w, v_set(6.3657719875e-04f));
    p = v_fma(p, w, v_set(1.5716109192e-03f));
    p = v_fma(p, w, v_set(-9.7499899566e-03f));
    p = v_fma(p, w, v_set(2.1967655048e-02f));
    p = v_fma(p, w, v_set(-2.3803828284e-02f));
    p = v_fma(p, w, v_set(-1.0236212984e-02f));
    p = v_fma(p, w, v_set(9.9020749331e-02f));
    p = v_fma(p, w, v_set(-2.3092731833e-01f));
    p = v_fma(p, w, v_set(7.1600461006e-01f));
    const V large = v_div(v_mul(p, e), v_add(one, a));
    const V far = v_pick(v_less(x, v_set(0.0f)), v_sub(v_set(2.0f), large), large);
    return v_pick(v_less(whole, v_set(0.5f)), v_sub(one, v_fma(v_erf_small(v_mul(x, x)), x, x)), far);
}

// Computes erfinv(x) = x p(w), with w = -log(1 - x^2). For w up to 5 the polynomial p is in w - 5/2, for larger w in
// sqrt(w) - 3. The result is infinite for |x| = 1, and NaN for larger |x|.
TAPER_TEMPLATE V v_erfinv(V x)
{
    const V a = v_abs(x), one = v_set(1.0f);
    const V w = v_sub(v_set(0.0f), v_log(v_mul(v_sub(one, a), v_add(one, a))));
    const V u = v_sub(w, v_set(2.5f)), v = v_sub(v_sqrt(w), v_set(3.0f));
    V p = v_fma(v_set(-8.7910159152e-09f), u, v_set(2.3232622937e-08f));
    p = v_fma(p, u, v_set(4.6617009275e-07f));
    p = v_fma(p, u, v_set(-3.4627043988e-06f));
    p = v_fma(p, u, v_set(-4.9633454182e-06f));
    p = v_fma(p, u, v_set(2.1834444487e-04f));
    p = v_fma(p, u, v_set(-1.2527419021e-03f));
    p = v_fma(p, u, v_set(-4.1773868725e-03f));
    p = v_fma(p, u, v_set(2.4664027989e-01f));
    p = v_fma(p, u, v_set(1.5014094114e+00f));
    V q = v_fma(v_set(1.1570415518e-04f), v, v_set(-3.0957304989e-04f));
    q = v_fma(q, v, v_set(-5.6776920246e-05f));
    q = v_fma(q, v, v_set(1.4850925654e-03f));
    q = v_fma(q, v, v_set(-3.5974052735e-03f));
    q = v_fma(q, v, v_set(5.6869732216e-03f));
    q = v_fma(q, v, v_set(-7.6372888871e-03f));
    q = v_fma(q, v, v_set(9.4452863559e-03f));
    q = v_fma(q, v, v_set(1.0016750097e+00f));
    q = v_fma(q, v, v_set(2.8329768181e+00f));
    const V inside = v_mul(v_pick(v_less(w, v_set(5.0f)), p, q), x);
    return v_pick(v_less(a, one), inside, v_div(x, v_sqrt(v_sub(one, a))));
}

// ---- functions of two numbers

// Computes x log(y). For x = 0 the result is 0 unless y is NaN.
TAPER_TEMPLATE V v_times_log(V x, V y, V log)
{
    const V zero = v_set(0.0f);
    const V product = v_pick(v_less(zero, v_abs(x)), v_mul(x, log), v_pick(v_nan(x), x, zero));
    return v_pick(v_nan(y), y, product);
}
TAPER_TEMPLATE V v_xlogy(V x, V y)
{
    return v_times_log(x, y, v_log(y));
}
TAPER_TEMPLATE V v_xlog1py(V x, V y)
{
    return v_times_log(x, y, v_log1p(y));
}

// Returns |a - b|, or 0 for equal infinities.
TAPER_TEMPLATE V v_apart(V a, V b)
{
    return v_pick(v_less(a, b), v_sub(b, a),
                  v_pick(v_less(b, a), v_sub(a, b), v_pick(v_nan(a), a, v_pick(v_nan(b), b, v_set(0.0f)))));
}
TAPER_TEMPLATE V v_logaddexp(V a, V b)
{
    return v_add(v_max(a, b), v_log1p(v_exp(v_sub(v_set(0.0f), v_apart(a, b)))));
}
TAPER_TEMPLATE V v_logaddexp2(V a, V b)
{
    const V smaller = v_exp2(v_sub(v_set(0.0f), v_apart(a, b)));
    return v_fma(v_log1p(smaller), v_set(1.44269504f), v_max(a, b));
}

#endif
