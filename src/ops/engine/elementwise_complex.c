// SPDX-License-Identifier: BSD-2-Clause
// Complex functions (elementwise_complex.h).
#include "ops/engine/elementwise_complex.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern taper_c128 taper_c(double re, double im);

taper_c128 taper_c_div(taper_c128 a, taper_c128 b)
{
    const double scale = fmax(fabs(b.re), fabs(b.im)); // dividing by the scale keeps the squares in range
    if (scale == 0 || isinf(scale) || isnan(scale)) {
        const double norm = b.re * b.re + b.im * b.im;
        return taper_c((a.re * b.re + a.im * b.im) / norm, (a.im * b.re - a.re * b.im) / norm);
    }
    const double re = b.re / scale, im = b.im / scale, norm = (re * re + im * im) * scale;
    return taper_c((a.re * re + a.im * im) / norm, (a.im * re - a.re * im) / norm);
}

taper_c128 taper_c_exp(taper_c128 a)
{
    const double e = exp(a.re);
    return a.im == 0 ? taper_c(e, a.im) : taper_c(e * cos(a.im), e * sin(a.im));
}

taper_c128 taper_c_log(taper_c128 a)
{
    return taper_c(log(taper_c_abs(a)), taper_c_arg(a));
}

taper_c128 taper_c_sqrt(taper_c128 a)
{
    if (a.re == 0 && a.im == 0) {
        return taper_c(0, a.im);
    }
    if (isinf(a.im)) {
        return taper_c(INFINITY, a.im);
    }
    if (isinf(a.re)) {
        const double other = isnan(a.im) ? a.im : 0;
        return a.re > 0 ? taper_c(a.re, copysign(other, a.im)) : taper_c(fabs(other), copysign(INFINITY, a.im));
    }
    const double t = sqrt((fabs(a.re) + taper_c_abs(a)) * 0.5), u = fabs(a.im) / (2 * t);
    return a.re >= 0 ? taper_c(t, copysign(u, a.im)) : taper_c(u, copysign(t, a.im));
}

taper_c128 taper_c_pow(taper_c128 a, taper_c128 b)
{
    if (!taper_c_true(b)) {
        return taper_c(1, 0);
    }
    if (!taper_c_true(a)) {
        return b.re < 0 ? taper_c(INFINITY, NAN) : taper_c(0, 0);
    }
    return taper_c_exp(taper_c_mul(b, taper_c_log(a)));
}

taper_c128 taper_c_sgn(taper_c128 a)
{
    const double size = taper_c_abs(a);
    return size == 0 ? taper_c(0, 0) : taper_c(a.re / size, a.im / size);
}

taper_c128 taper_c_sinh(taper_c128 a)
{
    return taper_c(sinh(a.re) * cos(a.im), cosh(a.re) * sin(a.im));
}

taper_c128 taper_c_cosh(taper_c128 a)
{
    return taper_c(cosh(a.re) * cos(a.im), sinh(a.re) * sin(a.im));
}

taper_c128 taper_c_tanh(taper_c128 a)
{
    if (fabs(a.re) > 20) {
        return taper_c(copysign(1, a.re), 4 * sin(a.im) * cos(a.im) * exp(-2 * fabs(a.re)));
    }
    const double t = tan(a.im), s = sinh(a.re), c = cosh(a.re), beta = 1 + t * t;
    if (isinf(t)) {
        return taper_c(c / s, 1 / t);
    }
    return taper_c(beta * c * s / (1 + beta * s * s), t / (1 + beta * s * s));
}

taper_c128 taper_c_asinh(taper_c128 a)
{
    const taper_c128 root = taper_c_mul(taper_c_sqrt(taper_c(1 - a.im, a.re)), taper_c_sqrt(taper_c(1 + a.im, -a.re)));
    // Kahan's formula has no cancellation for small real or imaginary parts.
    const taper_c128 s1 = taper_c_sqrt(taper_c(1 + a.im, -a.re)), s2 = taper_c_sqrt(taper_c(1 - a.im, a.re));
    return taper_c(asinh(s1.re * s2.im - s2.re * s1.im), atan2(a.im, root.re));
}

taper_c128 taper_c_acosh(taper_c128 a)
{
    const taper_c128 s1 = taper_c_sqrt(taper_c(a.re - 1, a.im)), s2 = taper_c_sqrt(taper_c(a.re + 1, a.im));
    return taper_c(asinh(s1.re * s2.re + s1.im * s2.im), 2 * atan2(s1.im, s2.re));
}

taper_c128 taper_c_atanh(taper_c128 a)
{
    const double x = fabs(a.re), y = a.im;
    const double re = 0.25 * log1p(4 * x / ((1 - x) * (1 - x) + y * y));
    const double im = 0.5 * atan2(2 * y, (1 - x) * (1 + x) - y * y);
    return taper_c(copysign(re, a.re), im);
}

// Computes a circular function from the hyperbolic function g: f(x) = -i g(ix).
static taper_c128 turned(taper_c128 (*g)(taper_c128), taper_c128 a)
{
    const taper_c128 r = g(taper_c_times_i(a));
    return taper_c(r.im, -r.re);
}

taper_c128 taper_c_sin(taper_c128 a)
{
    return turned(taper_c_sinh, a);
}
taper_c128 taper_c_cos(taper_c128 a)
{
    return taper_c_cosh(taper_c_times_i(a));
}
taper_c128 taper_c_tan(taper_c128 a)
{
    return turned(taper_c_tanh, a);
}
taper_c128 taper_c_asin(taper_c128 a)
{
    return turned(taper_c_asinh, a);
}
taper_c128 taper_c_atan(taper_c128 a)
{
    return turned(taper_c_atanh, a);
}

taper_c128 taper_c_acos(taper_c128 a)
{
    const taper_c128 s1 = taper_c_sqrt(taper_c(1 - a.re, -a.im)), s2 = taper_c_sqrt(taper_c(1 + a.re, a.im));
    return taper_c(2 * atan2(s1.re, s2.re), asinh(s2.re * s1.im - s2.im * s1.re));
}

taper_c128 taper_c_sigmoid(taper_c128 a)
{
    return taper_c_div(taper_c(1, 0), taper_c_add(taper_c(1, 0), taper_c_exp(taper_c_neg(a))));
}
