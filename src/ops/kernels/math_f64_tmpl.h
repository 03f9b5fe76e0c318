// SPDX-License-Identifier: BSD-2-Clause
// Functions of doubles without branches or tables, which the compiler vectorizes (native_tmpl.h). Their error is a few
// units of the last place. Zeros, infinities, NaN and overflow have the results of the C functions.
#ifndef TAPER_KERNELS_MATH_F64_TMPL_H
#define TAPER_KERNELS_MATH_F64_TMPL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ops/kernels/arch.h"

#if defined(__FMA__) || defined(__aarch64__)
#define D_HAS_FMA
#define D_FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define D_FMA(a, b, c) ((a) * (b) + (c))
#endif

// Adding this to a number below 2^51 rounds it to an integer, which is then in the low bits.
#define D_ROUNDER 0x1.8p52

TAPER_TEMPLATE uint64_t d_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
TAPER_TEMPLATE double d_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
TAPER_TEMPLATE double d_abs(double x)
{
    return d_of_bits(d_bits(x) & 0x7FFFFFFFFFFFFFFFu);
}
// Returns the magnitude of `a` with the sign of `b`.
TAPER_TEMPLATE double d_sign(double a, double b)
{
    return d_of_bits((d_bits(a) & 0x7FFFFFFFFFFFFFFFu) | (d_bits(b) & 0x8000000000000000u));
}
// Returns p times 2 to the power n, an integer of at most 2100.
TAPER_TEMPLATE double d_power_of_two(double p, double n)
{
    const double half = (0.5 * n + D_ROUNDER) - D_ROUNDER, rest = n - half;
    return p * d_of_bits((d_bits(half + D_ROUNDER) << 52) + 0x3FF0000000000000u) *
           d_of_bits((d_bits(rest + D_ROUNDER) << 52) + 0x3FF0000000000000u);
}

// Returns r and sets *n so that exp(x) = 2^n (1 + r). x is NaN, or exp(x) is roughly in the range of a double.
TAPER_TEMPLATE double d_exp_parts(double x, double *n)
{
    *n = D_FMA(x, 1.44269504088896340736, D_ROUNDER) - D_ROUNDER;
    const double r = D_FMA(*n, -1.90821492927058770002e-10, D_FMA(*n, -6.93147180369123816490e-01, x)), s = r * r;
    // Taylor's series in two independent halves, which the CPU overlaps.
    double even = 1.0 / 479001600, odd = 1.0 / 6227020800.0;
    even = D_FMA(even, s, 1.0 / 3628800), odd = D_FMA(odd, s, 1.0 / 39916800);
    even = D_FMA(even, s, 1.0 / 40320), odd = D_FMA(odd, s, 1.0 / 362880);
    even = D_FMA(even, s, 1.0 / 720), odd = D_FMA(odd, s, 1.0 / 5040);
    even = D_FMA(even, s, 1.0 / 24), odd = D_FMA(odd, s, 1.0 / 120);
    even = D_FMA(even, s, 0.5), odd = D_FMA(odd, s, 1.0 / 6);
    return D_FMA(D_FMA(odd, r, even), s, r);
}
TAPER_TEMPLATE double d_exp(double x)
{
    double n;
    x = x > 710 ? 710 : x;
    x = x < -746 ? -746 : x;
    const double p = d_exp_parts(x, &n);
    return d_power_of_two(1 + p, n);
}
TAPER_TEMPLATE double d_expm1(double x)
{
    double n;
    const double most = x > 710 ? 710 : x, bounded = most < -50 ? -50 : most;
    const double p = d_exp_parts(bounded, &n), two = d_power_of_two(1, n < 1000 ? n : 1000);
    const double small = D_FMA(p, two, two - 1), large = d_power_of_two(1 + p, n);
    const double y = bounded > 100 ? large : small;
    return x == 0 ? x : y;
}

// Returns r and sets *n so that x = 2^n (1 + r), with 1 + r in [sqrt(1/2), sqrt(2)]. x is positive and normal.
TAPER_TEMPLATE double d_log_parts(double x, double *n)
{
    const uint64_t up = d_bits(x) + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
    *n = d_of_bits((up >> 52) | 0x4330000000000000u) - (0x1p52 + 1023);
    return d_of_bits((up & 0x000FFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu) - 1;
}
TAPER_TEMPLATE double d_log(double x)
{
    double n;
    const double raised = x < 0x1p-1000 ? x * 0x1p100 : x;
    const double f = d_log_parts(raised, &n), s = f / (2 + f), z = s * s;
    n = x < 0x1p-1000 ? n - 100 : n;
    // The series of the inverse hyperbolic tangent: 2 (s + s^3 / 3 + s^5 / 5 …).
    double r = 2.0 / 21;
    r = D_FMA(r, z, 2.0 / 19), r = D_FMA(r, z, 2.0 / 17), r = D_FMA(r, z, 2.0 / 15), r = D_FMA(r, z, 2.0 / 13);
    r = D_FMA(r, z, 2.0 / 11), r = D_FMA(r, z, 2.0 / 9), r = D_FMA(r, z, 2.0 / 7), r = D_FMA(r, z, 2.0 / 5);
    r = D_FMA(r, z, 2.0 / 3) * z;
    const double half = 0.5 * f * f;
    const double low = D_FMA(n, 1.90821492927058770002e-10, s * (half + r));
    double y = D_FMA(n, 6.93147180369123816490e-01, f - (half - low));
    y = x == 0 ? -INFINITY : y;
    y = x < 0 ? NAN : y;
    return x <= 0x1.fffffffffffffp1023 ? y : x; // infinity and NaN are their own logarithms
}
TAPER_TEMPLATE double d_log1p(double x)
{
    const double u = 1 + x, y = d_log(u) + (x - (u - 1)) / u;
    const double whole = u > 0 ? y : d_log(u);
    return ((x == 0) | (x == INFINITY)) ? x : whole;
}

// Returns true if d_sine can compute the sine and the cosine of x.
TAPER_TEMPLATE unsigned d_sine_fits(double x)
{
    return (unsigned)(d_abs(x) < 0x1p19);
}
// Returns the sine of x + quarters * pi / 2. quarters is 0 for the sine and 1 for the cosine. d_sine_fits(x) must be
// true.
TAPER_TEMPLATE double d_sine(double x, uint64_t quarters)
{
    // pi / 2 in two parts of 33 bits, whose products with `turns` are exact, and a rest (Cody and Waite's reduction).
    const double high = 0x1.921fb544p+0, middle = 0x1.0b4611a6p-34, low = 0x1.3198a2e037073p-69;
    const double sum = x * 0x1.45f306dc9c883p-1 + D_ROUNDER, turns = sum - D_ROUNDER;
    const double t = x - turns * high, r = t - turns * middle;
    const double rest = turns * low - ((t - r) - turns * middle), y = r - rest, tail = (r - y) - rest;
    const uint64_t quadrant = d_bits(sum) + quarters;
    const double z = y * y;
    // Taylor's series of the sine and the cosine of y + tail, where |y| <= pi / 4.
    double odd = 1.0 / 355687428096000, even = 1.0 / 20922789888000;
    odd = D_FMA(odd, z, -1.0 / 1307674368000), even = D_FMA(even, z, -1.0 / 87178291200);
    odd = D_FMA(odd, z, 1.0 / 6227020800), even = D_FMA(even, z, 1.0 / 479001600);
    odd = D_FMA(odd, z, -1.0 / 39916800), even = D_FMA(even, z, -1.0 / 3628800);
    odd = D_FMA(odd, z, 1.0 / 362880), even = D_FMA(even, z, 1.0 / 40320);
    odd = D_FMA(odd, z, -1.0 / 5040), even = D_FMA(even, z, -1.0 / 720);
    odd = D_FMA(odd, z, 1.0 / 120), even = D_FMA(even, z, 1.0 / 24);
    odd = D_FMA(odd, z, -1.0 / 6);
    const double sine = y + D_FMA(y * z, odd, D_FMA(-0.5 * z, tail, tail));
    const double half = 0.5 * z, top = 1 - half;
    const double cosine = top + (((1 - top) - half) + D_FMA(z * z, even, -y * tail));
    const double part = (quadrant & 1) != 0 ? cosine : sine;
    const double turned = d_of_bits(d_bits(part) ^ (quadrant & 2) << 62);
    return quarters == 0 && x == 0 ? x : turned;
}

// Returns true if d_power can compute x to the power y: x is positive and normal and the result is far from overflow
// and underflow, or x is 0 and y is positive. Without fused multiply-add, d_power is not exact enough.
TAPER_TEMPLATE unsigned d_power_fits(double x, double y)
{
#ifdef D_HAS_FMA
    double n;
    (void)d_log_parts(x, &n);
    return (unsigned)((((x >= 0x1p-1022) & (x <= 0x1.fffffffffffffp1023) & (d_abs(y) * (d_abs(n) + 1) < 1000)) |
                       ((d_bits(x) == 0) & (y > 0))));
#else
    (void)x, (void)y;
    return 0;
#endif
}
// Returns x to the power y. d_power_fits(x, y) must be true. The logarithm of x is computed as the sum of two doubles.
TAPER_TEMPLATE double d_power(double x, double y)
{
    double n, m;
    const double f = d_log_parts(x == 0 ? 1 : x, &n);
    // The quotient s = f / (2 + f), with the rest that its rounding leaves.
    const double d = 2 + f, d_rest = f - (d - 2), s = f / d, s_rest = (D_FMA(-s, d, f) - s * d_rest) / d;
    // The series of the inverse hyperbolic tangent: 2 s + s t, with t = z (2 / 3 + 2 z / 5 …) and z = s^2.
    const double z = s * s, z_rest = D_FMA(s, s, -z) + 2 * s * s_rest;
    double p = 2.0 / 23;
    p = D_FMA(p, z, 2.0 / 21), p = D_FMA(p, z, 2.0 / 19), p = D_FMA(p, z, 2.0 / 17), p = D_FMA(p, z, 2.0 / 15);
    p = D_FMA(p, z, 2.0 / 13), p = D_FMA(p, z, 2.0 / 11), p = D_FMA(p, z, 2.0 / 9), p = D_FMA(p, z, 2.0 / 7);
    p = D_FMA(p, z, 2.0 / 5) * z;
    const double third = 2.0 / 3, third_rest = 0x1.5555555555555p-55;
    const double u = third + p, u_rest = (third - u) + p + third_rest;
    const double t = z * u, t_rest = D_FMA(z, u, -t) + D_FMA(z, u_rest, z_rest * u);
    const double v = s * t, v_rest = D_FMA(s, t, -v) + D_FMA(s, t_rest, s_rest * t);
    const double w = 2 * s + v, w_rest = ((2 * s - w) + v) + (2 * s_rest + v_rest);
    const double whole = n * 6.93147180369123816490e-01, first = whole + w;
    const double first_rest = ((whole - first) + w) + D_FMA(n, 1.90821492927058770002e-10, w_rest);
    const double log = first + first_rest, log_rest = (first - log) + first_rest;
    const double e = y * log, e_rest = D_FMA(y, log, -e) + y * log_rest;
    const double r = d_exp_parts(e, &m);
    const double power = d_power_of_two(1 + (r + D_FMA(r, e_rest, e_rest)), m);
    return x == 0 ? 0 : power;
}

TAPER_TEMPLATE double d_tanh(double x)
{
    const double t = d_expm1(-2 * d_abs(x));
    return d_sign(-t / (t + 2), x);
}
TAPER_TEMPLATE double d_sigmoid(double x)
{
    return 1 / (1 + d_exp(-x));
}

#endif
