// SPDX-License-Identifier: BSD-2-Clause
// Special functions of floats, computed as doubles without branches, with a relative error of about 1e-9
// (native_tmpl.h). The operators' own loops (ops/engine/elementwise_math.h) have the definitions. The polynomials
// interpolate at Chebyshev's points, in a variable that maps infinity to 1.
#ifndef TAPER_KERNELS_MATH_SPECIAL_TMPL_H
#define TAPER_KERNELS_MATH_SPECIAL_TMPL_H

#include "ops/kernels/math_f64_tmpl.h"

#define S_PI 3.14159265358979323846
#define S_HALF_ROOT 0.70710678118654752440

// ---- modified Bessel functions of x >= 0, multiplied by exp(-x)

TAPER_TEMPLATE double s_near(double x, double scale) // maps 0 to -1 and infinity to 1
{
    return 1 - 2 * scale / (x + scale);
}
TAPER_TEMPLATE double s_i0e(double x)
{
    const double u = s_near(x, 6);
    double y = 0.00159762816086179015;
    y = D_FMA(y, u, -0.000122674757303474714);
    y = D_FMA(y, u, -0.00905044641548398784);
    y = D_FMA(y, u, -0.00144078610961185646);
    y = D_FMA(y, u, 0.0256352399419702668);
    y = D_FMA(y, u, 0.00757693080661333102);
    y = D_FMA(y, u, -0.0465682083415756205);
    y = D_FMA(y, u, -0.019820592726970237);
    y = D_FMA(y, u, 0.0685939672356266278);
    y = D_FMA(y, u, 0.0267506565605352197);
    y = D_FMA(y, u, -0.0893060892063530705);
    y = D_FMA(y, u, -0.0183541076726841248);
    y = D_FMA(y, u, 0.130501822347844719);
    y = D_FMA(y, u, -0.087453111784797035);
    y = D_FMA(y, u, -0.0434698416999970672);
    y = D_FMA(y, u, 0.132388512676040596);
    y = D_FMA(y, u, -0.147506773348095043);
    y = D_FMA(y, u, 0.127029351111148957);
    y = D_FMA(y, u, -0.105174409063798402);
    y = D_FMA(y, u, 0.0919828416743013508);
    y = D_FMA(y, u, -0.0857817493193812748);
    y = D_FMA(y, u, 0.440934120711194973);
    return y / sqrt(x + 1);
}
TAPER_TEMPLATE double s_i1e(double x) // returns the magnitude; the caller sets the sign
{
    const double u = s_near(x, 6), bounded = x > 1e30 ? 1e30 : x;
    double y = -0.000723792113715423892;
    y = D_FMA(y, u, 0.00123250108257504206);
    y = D_FMA(y, u, 0.00507785086948605828);
    y = D_FMA(y, u, -0.00781719099765270745);
    y = D_FMA(y, u, -0.0162427767297209837);
    y = D_FMA(y, u, 0.0228452995662332146);
    y = D_FMA(y, u, 0.0329560274891126388);
    y = D_FMA(y, u, -0.0448458644154509004);
    y = D_FMA(y, u, -0.0469494128188483535);
    y = D_FMA(y, u, 0.0726744555756241424);
    y = D_FMA(y, u, 0.045112970077754698);
    y = D_FMA(y, u, -0.117182083515851552);
    y = D_FMA(y, u, 0.0248475500193809265);
    y = D_FMA(y, u, 0.110510215888259153);
    y = D_FMA(y, u, -0.151041141060802863);
    y = D_FMA(y, u, 0.0963180506794529533);
    y = D_FMA(y, u, -0.0132932415414343611);
    y = D_FMA(y, u, -0.0547931805171886666);
    y = D_FMA(y, u, 0.100388366557500939);
    y = D_FMA(y, u, -0.129471062280600482);
    y = D_FMA(y, u, 0.469338739280538295);
    return y * bounded / ((bounded + 1) * sqrt(x + 1));
}

// ---- the normal distribution

// Computes erfc(x). For x from 11 on, the result is 0 as a float.
TAPER_TEMPLATE double s_erfc(double x)
{
    const double a = d_abs(x), u = s_near(a, 3);
    double y = -0.0000110572300282029685;
    y = D_FMA(y, u, 3.86184913670632334e-6);
    y = D_FMA(y, u, 0.000113246239832370708);
    y = D_FMA(y, u, -0.000104130714279387722);
    y = D_FMA(y, u, -0.000771373676023478398);
    y = D_FMA(y, u, 0.00188811286460880224);
    y = D_FMA(y, u, 0.0025260688678005623);
    y = D_FMA(y, u, -0.0237703346754843266);
    y = D_FMA(y, u, 0.0683087067716677283);
    y = D_FMA(y, u, -0.1192736913206809);
    y = D_FMA(y, u, 0.129645096969015533);
    y = D_FMA(y, u, -0.0475622926956537881);
    y = D_FMA(y, u, -0.13562110449402125);
    y = D_FMA(y, u, 1.25300805825342387);
    const double tail = y / (1 + 2 * a) * d_exp(-a * a), upper = a < 30 ? tail : 0;
    const double value = x < 0 ? 2 - upper : upper;
    return x == x ? value : x;
}
TAPER_TEMPLATE double s_ndtr(double x)
{
    return 0.5 * s_erfc(-x * S_HALF_ROOT);
}
// Returns the quantile of a value near 1/2, divided by y. w is -log((1 - y)(1 + y)), where y is twice the distance of
// the value from 1/2.
TAPER_TEMPLATE double s_ndtri_central(double w)
{
    const double u = w * (2 / 6.25) - 1;
    double y = -0.0000151904961775965289;
    y = D_FMA(y, u, 2.1589088411534021e-6);
    y = D_FMA(y, u, 0.000129494060076037848);
    y = D_FMA(y, u, -0.000190830052621079738);
    y = D_FMA(y, u, -0.000371711898172365403);
    y = D_FMA(y, u, 0.00175722535763498682);
    y = D_FMA(y, u, -0.00179930132330325783);
    y = D_FMA(y, u, -0.00585501009235930159);
    y = D_FMA(y, u, 0.0251849787030699933);
    y = D_FMA(y, u, -0.0319670358507463874);
    y = D_FMA(y, u, -0.0833291034050583084);
    y = D_FMA(y, u, 1.06135922916903481);
    y = D_FMA(y, u, 2.33862071013018721);
    return y;
}
TAPER_TEMPLATE double s_ndtri_tail(double root) // computes the quantile from `root`, the square root of w
{
    const double low = 1 / 10.4, high = 1 / 2.5, u = (2 / root - (high + low)) / (high - low);
    double y = -8.97452147071874545e-7;
    y = D_FMA(y, u, -7.40577422837351341e-7);
    y = D_FMA(y, u, 0.0000110764753460562005);
    y = D_FMA(y, u, -3.28785291980833222e-6);
    y = D_FMA(y, u, -8.41609920678936799e-6);
    y = D_FMA(y, u, -0.0000580904899857031154);
    y = D_FMA(y, u, 0.000106306416972110688);
    y = D_FMA(y, u, -0.000664768498753540502);
    y = D_FMA(y, u, 0.00277894998271609349);
    y = D_FMA(y, u, 0.00251384007695786077);
    y = D_FMA(y, u, -0.0426477443961542528);
    y = D_FMA(y, u, 1.35810794171220057);
    return y * root;
}
TAPER_TEMPLATE double s_ndtri(double p)
{
    const double rest = 1 - p, tail = p < rest ? p : rest, w = -d_log(4 * tail * (1 - tail)), bounded = w > 0 ? w : 0;
    const double central = s_ndtri_central(bounded) * (1 - 2 * tail), far = s_ndtri_tail(sqrt(bounded));
    const double value = bounded < 6.25 ? central : far, known = tail > 0 ? value : tail == 0 ? INFINITY : NAN;
    return p < rest ? -known : known;
}

// ---- the gamma function and related functions

// These functions compute sin(pi x) / pi and cos(pi x) from r, the difference between x and the nearest integer, which
// s_beyond returns.
TAPER_TEMPLATE double s_beyond(double x)
{
    const double whole = d_abs(x) < 0x1p51 ? (x + D_ROUNDER) - D_ROUNDER : x;
    return x - whole;
}
TAPER_TEMPLATE double s_sin_pi(double r)
{
    const double s = r * r * (S_PI * S_PI);
    double y = 1.0 / 355687428096000.0;
    y = D_FMA(y, s, -1.0 / 1307674368000.0), y = D_FMA(y, s, 1.0 / 6227020800.0), y = D_FMA(y, s, -1.0 / 39916800);
    y = D_FMA(y, s, 1.0 / 362880), y = D_FMA(y, s, -1.0 / 5040), y = D_FMA(y, s, 1.0 / 120);
    y = D_FMA(y, s, -1.0 / 6), y = D_FMA(y, s, 1);
    return y * r;
}
TAPER_TEMPLATE double s_cos_pi(double r)
{
    const double s = r * r * (S_PI * S_PI);
    double y = 1.0 / 20922789888000.0;
    y = D_FMA(y, s, -1.0 / 87178291200.0), y = D_FMA(y, s, 1.0 / 479001600), y = D_FMA(y, s, -1.0 / 3628800);
    y = D_FMA(y, s, 1.0 / 40320), y = D_FMA(y, s, -1.0 / 720), y = D_FMA(y, s, 1.0 / 24), y = D_FMA(y, s, -0.5);
    return D_FMA(y, s, 1);
}

// Computes the product of x, x + 1 … x + 9, its first derivative, and half its second derivative. x is below 1e30.
TAPER_TEMPLATE double s_rising(double x, double *first, double *second)
{
    double p = 1, d = 0, e = 0;
#define S_FACTOR(k) e = e * (x + (k)) + d, d = d * (x + (k)) + p, p = p * (x + (k))
    S_FACTOR(0), S_FACTOR(1), S_FACTOR(2), S_FACTOR(3), S_FACTOR(4);
    S_FACTOR(5), S_FACTOR(6), S_FACTOR(7), S_FACTOR(8), S_FACTOR(9);
#undef S_FACTOR
    *first = d;
    *second = e;
    return p;
}

TAPER_TEMPLATE double s_digamma(double x)
{
    const double z = x <= 0 ? 1 - x : x, far = z > 1e6 ? 1 : 0, near = z > 1e6 ? 1 : z;
    double first, second;
    const double p = s_rising(near, &first, &second), y = far != 0 ? z : z + 10, v = 1 / y, s = v * v;
    double series = -691.0 / 32760;
    series = D_FMA(series, s, 1.0 / 132), series = D_FMA(series, s, -1.0 / 240), series = D_FMA(series, s, 1.0 / 252);
    series = D_FMA(series, s, -1.0 / 120), series = D_FMA(series, s, 1.0 / 12);
    const double shift = far != 0 ? 0 : first / p, r = s_beyond(x);
    const double right = d_log(y) - 0.5 * v - series * s - shift, tangent = s_cos_pi(r) / s_sin_pi(r);
    const double left = right - tangent, whole = r == 0 ? NAN : left;
    // The bits of an infinity. If x is zero, the infinity has the opposite sign of x.
    const uint64_t zero = (d_bits(x) & 0x8000000000000000u) ^ 0xFFF0000000000000u;
    const double value = x > 0 ? right : x < 0 ? whole : x == 0 ? d_of_bits(zero) : x;
    return x == INFINITY ? x : value;
}

TAPER_TEMPLATE double s_lgamma(double x)
{
    const double z = x > 0 ? x : 1 - x, near = z > 1e6 ? 1 : z;
    double first, second;
    const double p = s_rising(near, &first, &second), y = z > 1e6 ? z : z + 10, v = 1 / y, s = v * v;
    double series = 1.0 / 1188;
    series = D_FMA(series, s, -1.0 / 1680), series = D_FMA(series, s, 1.0 / 1260),
    series = D_FMA(series, s, -1.0 / 360);
    series = D_FMA(series, s, 1.0 / 12);
    const double stirling = (y - 0.5) * d_log(y) - y + 0.91893853320467274178 + series * v;
    const double product = z > 1e6 ? 1 : p, sine = d_abs(s_sin_pi(s_beyond(x)));
    const double taken = d_log(x > 0 ? product : product / sine), value = x > 0 ? stirling - taken : taken - stirling;
    // The result at 1 and at 2 is 0, but the terms of the sum do not cancel exactly there.
    return d_abs(x) == INFINITY ? INFINITY : x == 1 || x == 2 ? 0 : value;
}

// Computes the trigamma function of z >= 1/2.
TAPER_TEMPLATE double s_trigamma_right(double z)
{
    const double near = z > 1e6 ? 1 : z;
    double first, second;
    const double inverse = 1 / s_rising(near, &first, &second), a = first * inverse, b = second * inverse;
    const double y = z > 1e6 ? z : z + 10, v = 1 / y, s = v * v, shift = z > 1e6 ? 0 : a * a - 2 * b;
    double series = 5.0 / 66;
    series = D_FMA(series, s, -1.0 / 30), series = D_FMA(series, s, 1.0 / 42), series = D_FMA(series, s, -1.0 / 30);
    series = D_FMA(series, s, 1.0 / 6);
    return shift + v + 0.5 * s + series * s * v;
}
// Returns the trigamma function of x. For x below 1/2 it uses the reflection formula in single precision, as PyTorch
// does. `sine` is the sine of the rounded pi x.
TAPER_TEMPLATE float s_trigamma(float x, float sine)
{
    const float right = (float)s_trigamma_right((double)(x < 0.5f ? 1 - (double)x : (double)x));
    return x < 0.5f ? (float)(S_PI * S_PI) / (sine * sine) - right : x == x ? right : x;
}
TAPER_TEMPLATE float s_sine(float x) // computes the sine of x; |x| is at most a few thousand
{
    const double p = (double)((float)S_PI * x), n = (p * (1 / S_PI) + D_ROUNDER) - D_ROUNDER;
    const double r = D_FMA(n, -1.2246467991473532e-16, D_FMA(n, -S_PI, p)), half = 0.5 * n;
    const double odd = half - ((half + D_ROUNDER) - D_ROUNDER), sine = S_PI * s_sin_pi(r * (1 / S_PI));
    return (float)(odd != 0 ? -sine : sine);
}

#endif
