// SPDX-License-Identifier: BSD-2-Clause
// Complex arithmetic with pairs of doubles. <complex.h> is not used because bionic lacks half of its functions before
// API 26.
#ifndef TAPER_OPS_ELEMENTWISE_COMPLEX_H
#define TAPER_OPS_ELEMENTWISE_COMPLEX_H

#include <math.h>

#include "ops/engine/elementwise.h"

inline taper_c128 taper_c(double re, double im)
{
    return (taper_c128){re, im};
}
static inline taper_c128 taper_c_add(taper_c128 a, taper_c128 b)
{
    return taper_c(a.re + b.re, a.im + b.im);
}
static inline taper_c128 taper_c_sub(taper_c128 a, taper_c128 b)
{
    return taper_c(a.re - b.re, a.im - b.im);
}
static inline taper_c128 taper_c_mul(taper_c128 a, taper_c128 b)
{
    return taper_c(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
static inline taper_c128 taper_c_scale(taper_c128 a, double s)
{
    return taper_c(a.re * s, a.im * s);
}
static inline taper_c128 taper_c_neg(taper_c128 a)
{
    return taper_c(-a.re, -a.im);
}
static inline taper_c128 taper_c_times_i(taper_c128 a)
{
    return taper_c(-a.im, a.re);
}
static inline double taper_c_abs(taper_c128 a)
{
    // The plain square root is faster than hypot, and exact enough if the squares neither overflow nor vanish.
    const double square = a.re * a.re + a.im * a.im;
    return square > 1e-280 && square < 1e300 ? sqrt(square) : hypot(a.re, a.im);
}
static inline double taper_c_arg(taper_c128 a)
{
    return atan2(a.im, a.re);
}
static inline bool taper_c_true(taper_c128 a)
{
    return a.re != 0 || a.im != 0;
}
static inline bool taper_c_equal(taper_c128 a, taper_c128 b)
{
    return a.re == b.re && a.im == b.im;
}
taper_c128 taper_c_div(taper_c128 a, taper_c128 b);
taper_c128 taper_c_exp(taper_c128 a);
taper_c128 taper_c_log(taper_c128 a);
taper_c128 taper_c_sqrt(taper_c128 a);
taper_c128 taper_c_pow(taper_c128 a, taper_c128 b);
taper_c128 taper_c_sgn(taper_c128 a);
taper_c128 taper_c_sinh(taper_c128 a);
taper_c128 taper_c_cosh(taper_c128 a);
taper_c128 taper_c_tanh(taper_c128 a);
taper_c128 taper_c_asinh(taper_c128 a);
taper_c128 taper_c_acosh(taper_c128 a);
taper_c128 taper_c_atanh(taper_c128 a);
taper_c128 taper_c_sin(taper_c128 a);
taper_c128 taper_c_cos(taper_c128 a);
taper_c128 taper_c_tan(taper_c128 a);
taper_c128 taper_c_asin(taper_c128 a);
taper_c128 taper_c_acos(taper_c128 a);
taper_c128 taper_c_atan(taper_c128 a);
taper_c128 taper_c_sigmoid(taper_c128 a);

#endif
