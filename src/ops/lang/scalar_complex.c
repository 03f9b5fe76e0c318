// SPDX-License-Identifier: BSD-2-Clause
// Functions of complex numbers, written with real functions, because <complex.h> is missing or incomplete on some
// platforms, such as older Android. The inverse functions follow Kahan's branch cuts.
#include <math.h>

#include "ops/lang/scalar.h"

static const double ln10 = 2.30258509299404568402;

static taper_pair pair(double re, double im)
{
    return (taper_pair){re, im};
}

taper_pair taper_pair_mul(taper_pair a, taper_pair b)
{
    return pair(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

// Divides by Smith's method, which scales by the larger part of the divisor to avoid overflow.
taper_pair taper_pair_div(taper_pair a, taper_pair b)
{
    const double re = fabs(b.re), im = fabs(b.im);
    if (re >= im) {
        const double ratio = b.im / b.re, scale = 1.0 / (b.re + b.im * ratio);
        return pair((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    const double ratio = b.re / b.im, scale = 1.0 / (b.re * ratio + b.im);
    return pair((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);
}

static taper_pair c_exp(taper_pair z)
{
    const double size = exp(z.re);
    if (!isfinite(z.im) && isinf(z.re)) { // exp(-inf) is 0 for any imaginary part, as in glibc
        return z.re < 0 ? pair(0, 0) : pair(size, NAN);
    }
    return z.im == 0 ? pair(size, z.im) : pair(size * cos(z.im), size * sin(z.im));
}

static taper_pair c_log(taper_pair z)
{
    const double re = fabs(z.re), im = fabs(z.im);
    const double large = re > im ? re : im, small = re > im ? im : re;
    double size;
    if (large > 0.5 && large < 2 && small < 2) { // near the unit circle, log(hypot()) would lose digits
        size = 0.5 * log1p((large - 1) * (large + 1) + small * small);
    } else {
        size = log(hypot(re, im));
    }
    return pair(size, atan2(z.im, z.re));
}

static taper_pair c_sqrt(taper_pair z)
{
    if (z.re == 0 && z.im == 0) {
        return pair(0, z.im);
    }
    if (isinf(z.im)) {
        return pair(INFINITY, z.im);
    }
    // The terms are halved before they are added, so that the sum does not overflow.
    const double half = 0.5 * (hypot(0.5 * z.re, 0.5 * z.im) + 0.5 * fabs(z.re));
    const double root = sqrt(2 * half), other = root == 0 ? 0 : 0.5 * z.im / root;
    if (z.re >= 0) {
        return pair(root, other);
    }
    return pair(fabs(other), copysign(root, z.im));
}

static taper_pair c_sinh(taper_pair z)
{
    return z.im == 0 ? pair(sinh(z.re), z.im) : pair(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im));
}

static taper_pair c_cosh(taper_pair z)
{
    return z.im == 0 ? pair(cosh(z.re), copysign(z.im, z.re * z.im))
                     : pair(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im));
}

static taper_pair c_tanh(taper_pair z)
{
    if (fabs(z.re) > 22) { // sinh would overflow, or be so large that the other terms do not change the result
        return pair(copysign(1, z.re), 4 * sin(z.im) * cos(z.im) * exp(-2 * fabs(z.re)));
    }
    const double t = tan(z.im), s = sinh(z.re), beta = 1 + t * t, rho = sqrt(1 + s * s), scale = 1 + beta * s * s;
    return pair(beta * rho * s / scale, t / scale);
}

static taper_pair c_asin(taper_pair z)
{
    const taper_pair a = c_sqrt(pair(1 - z.re, -z.im)), b = c_sqrt(pair(1 + z.re, z.im));
    return pair(atan2(z.re, a.re * b.re - a.im * b.im), asinh(a.re * b.im - a.im * b.re));
}

static taper_pair c_acos(taper_pair z)
{
    const taper_pair a = c_sqrt(pair(1 - z.re, -z.im)), b = c_sqrt(pair(1 + z.re, z.im));
    return pair(2 * atan2(a.re, b.re), asinh(b.re * a.im - b.im * a.re));
}

static taper_pair c_acosh(taper_pair z)
{
    const taper_pair a = c_sqrt(pair(z.re - 1, z.im)), b = c_sqrt(pair(z.re + 1, z.im));
    return pair(asinh(a.re * b.re + a.im * b.im), 2 * atan2(a.im, b.re));
}

static taper_pair c_atanh(taper_pair z)
{
    // atanh is odd, so it is computed for a positive real part, where no digits cancel.
    const double re = fabs(z.re), below = 1 - re, im2 = z.im * z.im;
    return pair(copysign(0.25 * log1p(4 * re / (below * below + im2)), z.re),
                0.5 * atan2(2 * z.im, below * (1 + re) - im2));
}

static taper_pair times_i(taper_pair z)
{
    return pair(-z.im, z.re);
}

static taper_pair over_i(taper_pair z)
{
    return pair(z.im, -z.re);
}

taper_pair taper_pair_math(taper_math_code code, taper_pair z)
{
    switch (code) {
    case TAPER_MATH_EXP:
        return c_exp(z);
    case TAPER_MATH_LOG:
        return c_log(z);
    case TAPER_MATH_LOG10: {
        const taper_pair log_z = c_log(z);
        return pair(log_z.re / ln10, log_z.im / ln10);
    }
    case TAPER_MATH_SQRT:
        return c_sqrt(z);
    case TAPER_MATH_SIN:
        return over_i(c_sinh(times_i(z)));
    case TAPER_MATH_COS:
        return c_cosh(times_i(z));
    case TAPER_MATH_TAN:
        return over_i(c_tanh(times_i(z)));
    case TAPER_MATH_SINH:
        return c_sinh(z);
    case TAPER_MATH_COSH:
        return c_cosh(z);
    case TAPER_MATH_TANH:
        return c_tanh(z);
    case TAPER_MATH_ASIN:
        return c_asin(z);
    case TAPER_MATH_ACOS:
        return c_acos(z);
    case TAPER_MATH_ATAN:
        return over_i(c_atanh(times_i(z)));
    case TAPER_MATH_ASINH:
        return times_i(c_asin(over_i(z)));
    case TAPER_MATH_ACOSH:
        return c_acosh(z);
    default:
        return c_atanh(z);
    }
}

taper_pair taper_pair_pow(taper_pair a, taper_pair b)
{
    return c_exp(taper_pair_mul(b, c_log(a)));
}
