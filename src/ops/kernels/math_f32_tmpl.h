// SPDX-License-Identifier: BSD-2-Clause
// Transcendental functions in the words of simd_scalar.h. The polynomials are minimax fits (Lawson's iteration in
// extended precision), each to an error well below a float's last place; what is left is rounding.
#ifndef TAPER_KERNELS_MATH_F32_TMPL_H
#define TAPER_KERNELS_MATH_F32_TMPL_H

// exp(x): 2^n * exp(r), r = x - n ln 2 in [-0.347, 0.347]; exp(r) = 1 + (r + r^2 q(r)). Gives r + r^2 q(r), and 2^n as
// the product of two, as n goes from -150 to 128.
TAPER_TEMPLATE V v_exp_parts(V x, V *s1, V *s2)
{
    // Beyond these the result is 0 or infinity. NaN, in second place, passes.
    x = v_min(v_set(89.0f), v_max(v_set(-104.0f), x));
    const V magic = v_set(12582912.0f); // 1.5 * 2^23: adding it rounds to an integer, kept in the low bits
    const V t = v_fma(x, v_set(1.44269504f), magic);
    const V n = v_sub(t, magic);
    V r = v_fma(n, v_set(-0.693145752f), x); // 12 bits: the product is exact without FMA too
    r = v_fma(n, v_set(-1.42860677e-6f), r);
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

TAPER_TEMPLATE V v_exp(V x)
{
    V s1, s2;
    const V p = v_add(v_exp_parts(x, &s1, &s2), v_set(1.0f));
    return v_mul(v_mul(p, s1), s2);
}

// exp(x) - 1 without loss near 0: 2^n (exp(r) - 1) + (2^n - 1). From 17 on the 1 is below half of the last place.
TAPER_TEMPLATE V v_expm1(V x)
{
    V s1, s2;
    const V p = v_exp_parts(x, &s1, &s2), s = v_mul(s1, s2);
    const V large = v_mul(v_mul(v_add(p, v_set(1.0f)), s1), s2);
    return v_pick(v_less(v_set(17.0f), x), large, v_fma(p, s, v_sub(s, v_set(1.0f))));
}

// 1 / (1 + exp(-x)), without loss for negative x.
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
    const V e = v_exp(v_add(a, a)); // infinity gives 1
    const V large = v_sub(v_set(1.0f), v_div(v_set(2.0f), v_add(e, v_set(1.0f))));
    return v_pick(v_less(a, v_set(0.625f)), small, v_sign(large, x));
}

// erfc(z) for z >= 1, as exp of a polynomial; 0 from 5 on (2e-12), NaN for NaN.
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

// erf(x) / x - 1 for |x| <= 1, s = x * x.
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

// x/2 (1 + erf(x / sqrt 2)), from erfc so that nothing cancels for negative x.
TAPER_TEMPLATE V v_gelu(V x)
{
    const V z = v_mul(x, v_set(0.707106781f)), a = v_abs(z), half = v_mul(x, v_set(0.5f));
    const V small = v_fma(v_fma(v_erf_small(v_mul(z, z)), z, z), half, half);
    const V c = v_erfc_large(a);
    const V large = v_mul(half, v_pick(v_less(z, v_set(0.0f)), c, v_sub(v_set(2.0f), c)));
    return v_pick(v_less(a, v_set(1.0f)), small, large);
}

// x/2 (1 + tanh(u)) = x * sigmoid(2u), u = sqrt(2 / pi) (x + 0.044715 x^3).
TAPER_TEMPLATE V v_gelu_tanh(V x)
{
    const V u = v_mul(v_mul(x, v_set(1.5957691216f)), v_fma(v_mul(x, x), v_set(0.044715f), v_set(1.0f)));
    return v_mul(x, v_sigmoid(u));
}

#endif
