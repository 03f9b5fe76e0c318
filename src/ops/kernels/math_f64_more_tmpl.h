// SPDX-License-Identifier: BSD-2-Clause
// More functions of doubles without branches or tables (math_f64_tmpl.h): inverse trigonometric functions, hyperbolic
// functions and activations. Their error is a few units of the last place.
#ifndef TAPER_KERNELS_MATH_F64_MORE_TMPL_H
#define TAPER_KERNELS_MATH_F64_MORE_TMPL_H

#include "ops/kernels/math_f64_tmpl.h"

// pi / 2 as the sum of two doubles.
#define D_HALF_PI 0x1.921fb54442d18p+0
#define D_HALF_PI_REST 0x1.1a62633145c07p-54

// Returns the tangent of x, for which d_sine_fits must return true.
TAPER_TEMPLATE double d_tan(double x)
{
    return x == 0 ? x : d_sine(x, 0) / d_sine(x, 1);
}

// Returns the arc tangent of q, which is in [0, 1].
TAPER_TEMPLATE double d_atan_inner(double q)
{
    // Above tan(pi / 8), the arc tangent is pi / 4 plus the arc tangent of (q - 1) / (q + 1).
    const double turned = (q - 1) / (q + 1), u = q > 0.41421356237309503 ? turned : q, z = u * u, s = z * z;
    // Taylor's series in two independent halves, which the CPU overlaps.
    double even = 1.0 / 41, odd = -1.0 / 39;
    even = D_FMA(even, s, 1.0 / 37), odd = D_FMA(odd, s, -1.0 / 35);
    even = D_FMA(even, s, 1.0 / 33), odd = D_FMA(odd, s, -1.0 / 31);
    even = D_FMA(even, s, 1.0 / 29), odd = D_FMA(odd, s, -1.0 / 27);
    even = D_FMA(even, s, 1.0 / 25), odd = D_FMA(odd, s, -1.0 / 23);
    even = D_FMA(even, s, 1.0 / 21), odd = D_FMA(odd, s, -1.0 / 19);
    even = D_FMA(even, s, 1.0 / 17), odd = D_FMA(odd, s, -1.0 / 15);
    even = D_FMA(even, s, 1.0 / 13), odd = D_FMA(odd, s, -1.0 / 11);
    even = D_FMA(even, s, 1.0 / 9), odd = D_FMA(odd, s, -1.0 / 7);
    even = D_FMA(even, s, 1.0 / 5), odd = D_FMA(odd, s, -1.0 / 3);
    const double y = D_FMA(u * z, D_FMA(even, z, odd), u);
    const double sum = 0.5 * D_HALF_PI + (y + 0.5 * D_HALF_PI_REST);
    return q > 0.41421356237309503 ? sum : y;
}
TAPER_TEMPLATE double d_atan(double x)
{
    const double a = d_abs(x), inverse = 1 / a;
    const double y = d_atan_inner(a > 1 ? inverse : a), rest = D_HALF_PI - (y - D_HALF_PI_REST);
    return d_sign(a > 1 ? rest : y, x);
}
TAPER_TEMPLATE double d_asin(double x)
{
    return d_atan(x / sqrt((1 - x) * (1 + x)));
}
TAPER_TEMPLATE double d_acos(double x)
{
    return 2 * d_atan(sqrt((1 - x) / (1 + x)));
}
// Returns the angle of the point (x, y).
TAPER_TEMPLATE double d_atan2(double y, double x)
{
    const double a = d_abs(x), b = d_abs(y), least = b > a ? a : b, most = b > a ? b : a;
    const double ratio = least / (most == 0 ? 1 : most);
    const double angle = d_atan_inner(least == INFINITY ? 1 : ratio), rest = D_HALF_PI - (angle - D_HALF_PI_REST);
    const double right = b > a ? rest : angle, left = 2 * D_HALF_PI - (right - 2 * D_HALF_PI_REST);
    const double side = d_bits(x) >> 63 != 0 ? left : right;
    return ((x != x) | (y != y)) ? x + y : d_sign(side, y);
}

// Returns true if the square of x neither overflows nor loses digits.
TAPER_TEMPLATE unsigned d_square_fits(double x)
{
    const double a = d_abs(x);
    return (unsigned)((a <= 0x1p500) & ((a >= 0x1p-500) | (a == 0)));
}

// Returns true if d_fmod can compute the remainder of x divided by y. Without fused multiply-add, d_fmod is not exact.
TAPER_TEMPLATE unsigned d_fmod_fits(double x, double y)
{
#ifdef D_HAS_FMA
    const double a = d_abs(x), b = d_abs(y);
    return (unsigned)((b >= 0x1p-900) & (b <= 0x1p900) & (a < b * 0x1p52) & (a <= 0x1p900));
#else
    (void)x, (void)y;
    return 0;
#endif
}
// Returns the exact remainder of x divided by y, with the sign of x. x and y fit d_fmod_fits. The rounded quotient may
// be the integer after the exact quotient; then the remainder has the wrong sign, and one divisor is added.
TAPER_TEMPLATE double d_fmod(double x, double y)
{
    const double r = D_FMA(-trunc(x / y), y, x), next = r + d_sign(y, x);
    return d_sign(((r != 0) & ((r < 0) != (x < 0))) ? next : r, x);
}
// Returns the remainder with the sign of the divisor y, from m = fmod(x, y).
TAPER_TEMPLATE double d_remainder(double m, double y)
{
    return ((m != 0) & ((m < 0) != (y < 0))) ? m + y : m;
}
// Returns the largest integer not above x / y, from m = fmod(x, y), by PyTorch's formula.
TAPER_TEMPLATE double d_floor_quotient(double x, double y, double m)
{
    const double ratio = x / y, whole = (x - m) / y, less = whole - 1;
    const double quotient = ((m != 0) & ((m < 0) != (y < 0))) ? less : whole, low = floor(quotient);
    const double rounded = quotient - low > 0.5 ? low + 1 : low, zero = d_sign(0, ratio);
    const double value = quotient == 0 ? zero : rounded;
    return y == 0 ? ratio : value;
}

TAPER_TEMPLATE double d_sinh(double x)
{
    const double a = d_abs(x), t = d_expm1(a < 50 ? a : 50), root = d_exp(0.5 * a);
    const double small = 0.5 * (t + t / (t + 1)), large = 0.5 * root * root;
    return d_sign(a < 50 ? small : large, x);
}
TAPER_TEMPLATE double d_cosh(double x)
{
    const double root = d_exp(0.5 * d_abs(x));
    return 0.5 * root * root + 0.5 / (root * root);
}

TAPER_TEMPLATE double d_elu(double x, double alpha, double scale, double input_scale)
{
    const double negative = d_expm1(x * input_scale) * (alpha * scale);
    return x <= 0 ? negative : x * scale;
}
TAPER_TEMPLATE double d_softplus(double x, double beta, double threshold)
{
    const double y = d_log1p(d_exp(x * beta)) / beta;
    return x * beta > threshold ? x : y;
}
TAPER_TEMPLATE double d_log_sigmoid(double x)
{
    return (x < 0 ? x : 0) - d_log1p(d_exp(-d_abs(x)));
}
// Computes GELU by the tangent's formula: x (1 + tanh(u)) / 2 is x sigmoid(2 u).
TAPER_TEMPLATE double d_gelu_tanh(double x)
{
    return x * d_sigmoid(2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
}
// Computes x tanh(log(1 + exp(x))), where the hyperbolic tangent is n / (n + 2) with n = exp(x) (exp(x) + 2).
TAPER_TEMPLATE double d_mish(double x)
{
    const double e = d_exp(x > 40 ? 40 : x), n = e * (e + 2);
    return x * (n / (n + 2));
}

#endif
