// SPDX-License-Identifier: BSD-2-Clause
// Transcendental functions, written with the functions of simd_scalar.h. The polynomials are minimax fits (Lawson's
// iteration in extended precision), each with an error far below a float's last place. The remaining error is rounding.
#ifndef TAPER_KERNELS_MATH_F32_TMPL_H
#define TAPER_KERNELS_MATH_F32_TMPL_H

// exp(x) = 2^n * exp(r), with r = x - n ln 2 in [-0.347, 0.347], and exp(r) = 1 + (r + r^2 q(r)). Returns r + r^2 q(r),
// and 2^n as a product of two factors, because n is from -150 to 128.
TAPER_TEMPLATE V v_exp_of(V r, V t, V *s1, V *s2) // t is 1.5 * 2^23 + n, so its low bits contain n
{
    V q = v_fma(v_set(1.3950523860e-03f), r, v_set(8.3689082234e-03f));
    q = v_fma(q, r, v_set(4.1666205313e-02f));
    q = v_fma(q, r, v_set(1.6666518683e-01f));
    q = v_fma(q, r, v_set(5.0000000953e-01f));
    const VI i = vi_sub(v_bits(t), vi_set(0x4B400000));
    const VI half = vi_half(i);
    *s1 = v_of_bits(vi_up23(vi_add(half, vi_set(127))));
    *s2 = v_of_bits(vi_up23(vi_add(vi_sub(i, half), vi_set(127))));
    return v_fma(v_mul(r, r), q, r);
}

TAPER_TEMPLATE V v_exp_parts(V x, V *s1, V *s2)
{
    // Beyond these bounds the result is 0 or infinity. A NaN, as the second operand, remains.
    x = v_min(v_set(89.0f), v_max(v_set(-104.0f), x));
    const V magic = v_set(12582912.0f); // adding 1.5 * 2^23 rounds to an integer, which is then in the low bits
    const V t = v_fma(x, v_set(1.44269504f), magic);
    const V n = v_sub(t, magic);
    V r = v_fma(n, v_set(-0.693145752f), x); // a constant of 12 bits, so the product is exact even without FMA
    r = v_fma(n, v_set(-1.42860677e-6f), r);
    return v_exp_of(r, t, s1, s2);
}

TAPER_TEMPLATE V v_exp(V x)
{
    V s1, s2;
    const V p = v_add(v_exp_parts(x, &s1, &s2), v_set(1.0f));
    return v_mul(v_mul(p, s1), s2);
}

// Computes exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), which is exact near 0. For x from 17 on the 1 is below half of
// the last place.
TAPER_TEMPLATE V v_expm1(V x)
{
    V s1, s2;
    const V p = v_exp_parts(x, &s1, &s2), s = v_mul(s1, s2);
    const V large = v_mul(v_mul(v_add(p, v_set(1.0f)), s1), s2);
    return v_pick(v_less(v_set(17.0f), x), large, v_fma(p, s, v_sub(s, v_set(1.0f))));
}

// Computes 1 / (1 + exp(-x)) without loss of precision for negative x.
TAPER_TEMPLATE V v_sigmoid(V x)
{
    const V e = v_exp(v_sub(v_set(0.0f), v_abs(x)));
    const V r = v_div(v_set(1.0f), v_add(e, v_set(1.0f)));
    return v_pick(v_less(x, v_set(0.0f)), v_mul(e, r), r);
}

TAPER_TEMPLATE V v_tanh(V x)
{
    const V a = v_abs(x), s = v_mul(x, x);
    V p = v_fma(v_set(2.1429619795e-03f), s, v_set(-8.1773984224e-03f));
    p = v_fma(p, s, v_set(2.1700703318e-02f));
    p = v_fma(p, s, v_set(-5.3946763086e-02f));
    p = v_fma(p, s, v_set(1.3333206009e-01f));
    p = v_fma(p, s, v_set(-3.3333330803e-01f));
    const V small = v_fma(v_mul(p, s), x, x);
    const V e = v_exp(v_add(a, a)); // for an infinite x the result is 1
    const V large = v_sub(v_set(1.0f), v_div(v_set(2.0f), v_add(e, v_set(1.0f))));
    return v_pick(v_less(a, v_set(0.625f)), small, v_sign(large, x));
}

// Computes erfc(z) for z >= 1 as the exponential of a polynomial. From z = 5 on the result is 0 (the value is below
// 2e-12). NaN gives NaN.
TAPER_TEMPLATE V v_erfc_large(V z)
{
    const V y = v_min(v_set(5.0f), z);
    V p = v_fma(v_set(1.5211095060e-06f), y, v_set(-4.4082732182e-05f));
    p = v_fma(p, y, v_set(5.8256016842e-04f));
    p = v_fma(p, y, v_set(-4.7027397147e-03f));
    p = v_fma(p, y, v_set(2.6283690333e-02f));
    p = v_fma(p, y, v_set(-1.0987377918e-01f));
    p = v_fma(p, y, v_set(-6.3201410213e-01f));
    p = v_fma(p, y, v_set(-1.1301380906e+00f));
    p = v_fma(p, y, v_set(2.9951377052e-04f));
    return v_pick(v_less(v_set(5.0f), z), v_set(0.0f), v_exp(p));
}

// Computes erf(x) / x - 1 for |x| <= 1; s = x * x.
TAPER_TEMPLATE V v_erf_small(V s)
{
    V p = v_fma(v_set(7.8538756628e-05f), s, v_set(-8.0101983179e-04f));
    p = v_fma(p, s, v_set(5.1883282787e-03f));
    p = v_fma(p, s, v_set(-2.6853812296e-02f));
    p = v_fma(p, s, v_set(1.1283585159e-01f));
    p = v_fma(p, s, v_set(-3.7612625826e-01f));
    return v_fma(p, s, v_set(1.2837916573e-01f));
}

TAPER_TEMPLATE V v_erf(V x)
{
    const V a = v_abs(x);
    const V small = v_fma(v_erf_small(v_mul(x, x)), x, x);
    const V large = v_sign(v_sub(v_set(1.0f), v_erfc_large(a)), x);
    return v_pick(v_less(a, v_set(1.0f)), small, large);
}

// Returns gelu(x), which is x/2 (1 + erf(x / sqrt 2)). With a = |x| this is x/2 erfc(a / sqrt 2) for negative x, and
// x/2 (2 - erfc(a / sqrt 2)) for other x. erfc is 2 to the power of a polynomial in `a`. The polynomial fits erfc down
// to 6e-8, which is enough because erfc is only a factor of x/2. The exponent is in [-41, 0], so 2^n is one factor.
TAPER_TEMPLATE V v_gelu(V x)
{
    const V a = v_abs(x), y = v_min(v_set(7.07106781f), a), half = v_mul(x, v_set(0.5f));
    V p = v_fma(v_set(-1.6648650458e-08f), y, v_set(5.6330554798e-07f));
    p = v_fma(p, y, v_set(-8.0205381892e-06f));
    p = v_fma(p, y, v_set(6.0792463046e-05f));
    p = v_fma(p, y, v_set(-2.3136245727e-04f));
    p = v_fma(p, y, v_set(-8.8404900453e-05f));
    p = v_fma(p, y, v_set(7.0414301008e-03f));
    p = v_fma(p, y, v_set(-5.2497077733e-02f));
    p = v_fma(p, y, v_set(-4.5920473337e-01f));
    p = v_mul(v_fma(p, y, v_set(-1.1511058807e+00f)), y);
    const V magic = v_set(12582912.0f), t = v_add(p, magic), r = v_sub(p, v_sub(t, magic));
    V q = v_fma(v_set(1.5471887309e-04f), r, v_set(1.3390479144e-03f));
    q = v_fma(q, r, v_set(9.6180224791e-03f));
    q = v_fma(q, r, v_set(5.5503614247e-02f));
    q = v_fma(q, r, v_set(2.4022650719e-01f));
    q = v_fma(q, r, v_set(6.9314718056e-01f));
    const V scale = v_of_bits(vi_up23(vi_sub(v_bits(t), vi_set(0x4B400000 - 127))));
    const V e = v_mul(v_fma(q, r, v_set(1.0f)), scale);
    const V c = v_pick(v_less(v_set(7.07106781f), a), v_set(0.0f), e);
    return v_mul(half, v_pick(v_less(x, v_set(0.0f)), c, v_sub(v_set(2.0f), c)));
}

// Computes x/2 (1 + tanh(u)) = x * sigmoid(2u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
TAPER_TEMPLATE V v_gelu_tanh(V x)
{
    const V u = v_mul(v_mul(x, v_set(1.5957691216f)), v_fma(v_mul(x, x), v_set(0.044715f), v_set(1.0f)));
    return v_mul(x, v_sigmoid(u));
}

// Computes log(x) = n ln 2 + log(1 + f), with 1 + f in [sqrt(1/2), sqrt 2) and log(1 + f) = f - f^2 / 2 + f^3 q(f).
// Returns f, n and f q(f).
TAPER_TEMPLATE V v_log_parts(V x, V *n, V *fq)
{
    const VM subnormal = v_less(x, v_set(0x1p-126f));
    const V y = v_pick(subnormal, v_mul(x, v_set(0x1p23f)), x);
    const VI i = vi_down23(vi_sub(v_bits(y), vi_set(0x3F3504F3)));
    const V magic = v_set(12582912.0f); // 1.5 * 2^23, see v_exp_parts
    *n = v_sub(v_sub(v_of_bits(vi_add(i, vi_set(0x4B400000))), magic), v_pick(subnormal, v_set(23.0f), v_set(0.0f)));
    const V f = v_sub(v_of_bits(vi_sub(v_bits(y), vi_up23(i))), v_set(1.0f));
    V q = v_fma(v_set(6.7466013134e-02f), f, v_set(-1.1675640941e-01f));
    q = v_fma(q, f, v_set(1.1888174713e-01f));
    q = v_fma(q, f, v_set(-1.2405591458e-01f));
    q = v_fma(q, f, v_set(1.4219550788e-01f));
    q = v_fma(q, f, v_set(-1.6667996347e-01f));
    q = v_fma(q, f, v_set(2.0002119243e-01f));
    q = v_fma(q, f, v_set(-2.5000008941e-01f));
    q = v_fma(q, f, v_set(3.3333313465e-01f));
    *fq = v_mul(q, f);
    return f;
}

// Computes the logarithm of x + low, where `low` is the rounding error of x.
TAPER_TEMPLATE V v_log_sum(V x, V low)
{
    V n, fq;
    const V f = v_log_parts(x, &n, &fq), s = v_mul(f, f);
    V r = v_fma(n, v_set(3.1946184945e-05f), v_fma(fq, s, low));
    r = v_add(v_fma(s, v_set(-0.5f), r), f);
    return v_fma(n, v_set(0.693115234375f), r);
}

// Returns `inside`, except for special values: the logarithm is -infinity for 0 and NaN for negative numbers; infinity
// and NaN stay as they are.
TAPER_TEMPLATE V v_log_edges(V x, V inside)
{
    const V low = v_pick(v_less(x, v_set(0.0f)), v_set(NAN), v_sub(x, v_set(INFINITY)));
    return v_pick(v_less(v_set(0.0f), x), v_pick(v_less(x, v_set(INFINITY)), inside, x), low);
}

TAPER_TEMPLATE V v_log(V x)
{
    return v_log_edges(x, v_log_sum(x, v_set(0.0f)));
}

// Computes log(1 + x) from u, the rounded 1 + x, and from its rounding error.
TAPER_TEMPLATE V v_log1p(V x)
{
    const V one = v_set(1.0f), u = v_add(x, one);
    const V lacks = v_pick(v_less(x, one), v_sub(x, v_sub(u, one)), v_sub(one, v_sub(u, x)));
    const V r = v_log_edges(u, v_log_sum(u, v_div(lacks, u)));
    return v_pick(v_less(v_abs(x), v_set(0x1p-25f)), x, r);
}

// Computes log(1 + exp(x * beta)) / beta, or x if x * beta is above the threshold.
TAPER_TEMPLATE V v_softplus(V x, V beta, V threshold)
{
    const V z = v_mul(x, beta);
    return v_pick(v_less(threshold, z), x, v_div(v_log1p(v_exp(z)), beta));
}

// Computes x tanh(log(1 + e^x)) = x n / (n + 2), with n = e^x (e^x + 2).
TAPER_TEMPLATE V v_mish(V x)
{
    const V e = v_exp(v_min(v_set(30.0f), x)), n = v_mul(e, v_add(e, v_set(2.0f)));
    return v_mul(x, v_div(n, v_add(n, v_set(2.0f))));
}

TAPER_TEMPLATE V v_log_sigmoid(V x)
{
    return v_sub(v_min(v_set(0.0f), x), v_log1p(v_exp(v_sub(v_set(0.0f), v_abs(x)))));
}

// Computes sin(r + n pi) = (-1)^n sin(r). cos(x) is computed with n - 1/2 instead of n. For |x| above 2^13 the parts of
// pi are not exact enough.
TAPER_TEMPLATE V v_sin_turned(V x, const float quarters)
{
    const V magic = v_set(12582912.0f), t = v_add(v_fma(x, v_set(0.318309886f), v_set(quarters)), magic);
    const V n = v_sub(v_sub(t, magic), v_set(quarters));
    V r = v_fma(n, v_set(-3.1416015625f), x); // a constant of 12 bits, so the products are exact even without FMA
    r = v_fma(n, v_set(8.9071691036e-06f), r);
    r = v_fma(n, v_set(1.7411031391e-09f), r);
    const V s = v_mul(r, r);
    V p = v_fma(v_set(2.6054810860e-06f), s, v_set(-1.9809474179e-04f));
    p = v_fma(p, s, v_set(8.3330646157e-03f));
    p = v_fma(p, s, v_set(-1.6666659713e-01f));
    p = v_fma(v_mul(p, s), r, r);
    return v_of_bits(vi_add(v_bits(p), vi_up31(v_bits(t))));
}

#ifndef SIMD_ROUNDS // other instruction sets have an instruction for rounding
// Rounds to the nearest integer, and a half to the even integer.
TAPER_TEMPLATE V v_round(V x)
{
    const V a = v_abs(x), whole = v_set(0x1p23f); // this float and all larger floats are integers
    return v_sign(v_pick(v_less(a, whole), v_sub(v_add(a, whole), whole), a), x);
}
TAPER_TEMPLATE V v_floor(V x)
{
    const V r = v_round(x);
    return v_sign(v_sub(r, v_pick(v_less(x, r), v_set(1.0f), v_set(0.0f))), x);
}
TAPER_TEMPLATE V v_ceil(V x)
{
    const V r = v_round(x);
    return v_sign(v_add(r, v_pick(v_less(r, x), v_set(1.0f), v_set(0.0f))), x);
}
TAPER_TEMPLATE V v_trunc(V x)
{
    return v_sign(v_floor(v_abs(x)), x);
}
#endif

#endif
