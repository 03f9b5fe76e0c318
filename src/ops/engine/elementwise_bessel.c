// SPDX-License-Identifier: BSD-2-Clause
// Bessel functions and Airy's Ai in double precision (elementwise_math.h), by the series, recurrences and integrals of
// the handbooks. The error is about 1e-14 of the function's magnitude near x.
#include "ops/engine/elementwise_math.h"

#define EULER 0.57721566490153286061
enum { ASYMPTOTIC = 25 }; // smallest x for which the asymptotic expansions have full precision

// ---- Bessel functions of the first and second kind, orders 0 and 1

typedef struct bessel {
    double j[2], y[2];
} bessel;

// Computes J and Y of orders 0 and 1 by Hankel's expansion. x is at least ASYMPTOTIC.
static bessel bessel_far(double x)
{
    bessel b;
    const double s = sin(x), c = cos(x);
    for (int order = 0; order < 2; order++) {
        double even = 1, odd = 0, term = 1;
        for (int k = 1; k < 30; k++) {
            term *= (4.0 * order - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
            if (k % 2 != 0) {
                odd += k % 4 == 1 ? term : -term;
            } else {
                even += k % 4 == 0 ? term : -term;
            }
            if (fabs(term) < 1e-17) {
                break;
            }
        }
        // The angle is x - pi/4 for order 0, and x - 3 pi/4 for order 1.
        const double cosine = order == 0 ? c + s : s - c, sine = order == 0 ? s - c : -c - s,
                     scale = 1 / sqrt(TAPER_PI * x);
        b.j[order] = scale * (even * cosine - odd * sine);
        b.y[order] = scale * (even * sine + odd * cosine);
    }
    return b;
}

// Computes J by Miller's downward recurrence, from an order at which J vanishes, and Y by Neumann's series. x is
// greater than 0 and less than ASYMPTOTIC.
static bessel bessel_near(double x)
{
    const double logarithm = log(x / 2) + EULER;
    if (x < 1e-8) {
        return (bessel){{1, x / 2}, {2 / TAPER_PI * logarithm, -2 / (TAPER_PI * x)}};
    }
    double above = 0, here = 1e-30, norm = 0, even = 0, odd = 0;
    for (int k = 2 * (int)(x / 2 + 20 + 3 * cbrt(x)); k > 0; k--) { // `here` is the value of order k, not normalized
        const double sign = k / 2 % 2 == 0 ? 1 : -1, half = k / 2;
        if (k % 2 == 0) {
            norm += 2 * here;
            even -= sign * here / half;
        } else if (k > 1) {
            odd += sign * k / (half * (half + 1)) * here;
        }
        const double below = 2 * k / x * here - above;
        above = here;
        here = below;
        if (fabs(here) > 1e100) {
            above *= 1e-100, here *= 1e-100, norm *= 1e-100, even *= 1e-100, odd *= 1e-100;
        }
    }
    norm += here;
    bessel b = {{here / norm, above / norm}, {0, 0}};
    b.y[0] = 2 / TAPER_PI * (logarithm * b.j[0] + 2 * even / norm);
    b.y[1] = 2 / TAPER_PI * ((logarithm - 1) * b.j[1] - b.j[0] / x - odd / norm);
    return b;
}

static bessel bessel_of(double x)
{
    return x < ASYMPTOTIC ? bessel_near(x) : bessel_far(x);
}

double taper_bessel_j0(double x)
{
    return x == 0 ? 1 : bessel_of(fabs(x)).j[0];
}
double taper_bessel_j1(double x)
{
    const double r = x == 0 ? 0 : bessel_of(fabs(x)).j[1];
    return x < 0 ? -r : r;
}
double taper_bessel_y0(double x)
{
    return x == 0 ? -INFINITY : x > 0 ? bessel_of(x).y[0] : NAN;
}
double taper_bessel_y1(double x)
{
    return x == 0 ? -INFINITY : x > 0 ? bessel_of(x).y[1] : NAN;
}

double taper_spherical_bessel_j0(double x)
{
    return isinf(x) ? 0 : x == 0 ? 1 : sin(x) / x;
}

// ---- modified Bessel functions of the second kind

// Returns exp(x) K(x), by the series, by the integral of exp(-x (cosh t - 1)) cosh(order t), or by the expansion at
// infinity.
static double bessel_k_scaled(int order, double x)
{
    if (!(x > 0) || isinf(x)) {
        return x == 0 ? INFINITY : x > 0 ? 0 : NAN;
    }
    if (x <= 2) {
        const double z = x * x / 4, logarithm = log(x / 2);
        double term = order == 0 ? 1 : x / 2, harmonic = order == 0 ? -2 * EULER : 1 - 2 * EULER, sum = 0;
        for (int k = 0; k < 30; k++) { // harmonic is psi(k + 1) + psi(k + order + 1)
            sum += term * (order == 0 ? harmonic / 2 - logarithm : logarithm - harmonic / 2);
            harmonic += 1.0 / (k + 1) + 1.0 / (k + 1 + order);
            term *= z / ((k + 1.0) * (k + 1.0 + order));
        }
        return exp(x) * (order == 0 ? sum : 1 / x + sum);
    }
    double sum;
    if (x < 40) {
        const double step = 1.0 / 16;
        sum = 0.5;
        // The trapezoidal rule is exact to rounding, because the integrand decreases fast.
        for (int k = 1; k < 200; k++) {
            const double t = k * step, term = exp(-x * (cosh(t) - 1)) * (order == 0 ? 1 : cosh(t));
            sum += term;
            if (term < 1e-18) {
                break;
            }
        }
        return sum * step;
    }
    double term = 1;
    sum = 1;
    for (int k = 1; k < 30 && fabs(term) > 1e-18; k++) {
        term *= (4.0 * order - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
        sum += term;
    }
    return sum * sqrt(TAPER_PI / (2 * x));
}

double taper_scaled_bessel_k0(double x)
{
    return bessel_k_scaled(0, x);
}
double taper_scaled_bessel_k1(double x)
{
    return bessel_k_scaled(1, x);
}
double taper_bessel_k0(double x)
{
    return x > 0 ? exp(-x) * bessel_k_scaled(0, x) : bessel_k_scaled(0, x);
}
double taper_bessel_k1(double x)
{
    return x > 0 ? exp(-x) * bessel_k_scaled(1, x) : bessel_k_scaled(1, x);
}

// ---- Airy's function

// The values of Ai and its derivative at -10, -9, ... 10.
static const double airy_anchors[][2] = {
    {0.0402412384864431907, 0.996265044132790056},       {-0.0221337215473414037, -0.975663980926331595},
    {-0.0527050503563862026, 0.935560938198306551},      {0.184280835250505637, -0.771008168410126548},
    {-0.329145173629823105, 0.345935487281342895},       {0.35076100902411432, 0.327192818554443137},
    {-0.0702655329492895151, -0.79062857536858138},      {-0.378814293677658074, 0.314583769216598814},
    {0.227407428201685576, 0.618259020741691041},        {0.535560883292352119, -0.0101605671166452094},
    {0.355028053887817239, -0.258819403792806798},       {0.135292416312881416, -0.159147441296793213},
    {0.0349241304232743791, -0.0530903844336536317},     {0.00659113935746071914, -0.0119129767059513185},
    {0.000951563851204801874, -0.0019586409502041789},   {0.000108344428136074417, -0.000247413890868462476},
    {9.94769436025288957e-6, -0.0000247652003970349548}, {7.49212886399716708e-7, -2.00815089473879199e-6},
    {4.69220761609923163e-8, -1.34143929790678657e-7},   {2.47116843087248984e-9, -7.48064138965894641e-9},
    {1.10475325528986859e-10, -3.52063367673892364e-10},
};

// Sums the Taylor series of the solution of y'' = x y at the nearest anchor.
static double airy_near(double x)
{
    const double at = rint(x), h = x - at, *anchor = airy_anchors[(int)at + 10];
    double before = 0, here = anchor[0], next = anchor[1], power = h, sum = here;
    for (int n = 0; n < 30; n++) { // coefficients n and n + 1 of the series
        sum += next * power;
        power *= h;
        const double following = (at * here + before) / ((n + 1) * (n + 2));
        before = here;
        here = next;
        next = following;
    }
    return sum;
}

double taper_airy_ai(double x)
{
    if (isnan(x) || isinf(x)) {
        return NAN; // NaN at infinity, as in PyTorch
    }
    if (fabs(x) <= 10) {
        return airy_near(x);
    }
    const double a = fabs(x), zeta = a * sqrt(a) * 2 / 3;
    double term = 1, sum = 1, even = 1, odd = 0;
    for (int k = 1; k < 30 && fabs(term) > 1e-18; k++) {
        term *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / ((2.0 * k - 1) * 216 * k * zeta);
        sum += k % 2 == 0 ? term : -term;
        if (k % 2 == 0) {
            even += k % 4 == 0 ? term : -term;
        } else {
            odd += k % 4 == 1 ? term : -term;
        }
    }
    const double scale = 1 / sqrt(TAPER_PI * sqrt(a));
    if (x > 0) {
        return exp(-zeta) * sum * scale / 2;
    }
    const double s = sin(zeta), c = cos(zeta);
    return scale / TAPER_SQRT2 * (even * (c + s) + odd * (s - c));
}
