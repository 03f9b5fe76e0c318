// SPDX-License-Identifier: BSD-2-Clause
// Special functions in double precision (elementwise_math.h).
#include "ops/engine/elementwise_math.h"

// ---- the normal distribution

// Returns x >= 0 with erf(x) = y and erfc(x) = rest, where rest is 1 - y. At least one of y and rest is exact, and the
// other one is rounded.
static double erf_inverse(double y, double rest)
{
    const double w = -log(rest * (1 + y)); // rest * (1 + y) is (1 - y)(1 + y)
    double x;
    if (w < 5) { // Giles's polynomials give a first guess with seven correct digits
        static const double c[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                   -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
        x = c[0];
        for (size_t i = 1; i < 9; i++) {
            x = c[i] + x * (w - 2.5);
        }
    } else {
        static const double c[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                   -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
        x = c[0];
        for (size_t i = 1; i < 9; i++) {
            x = c[i] + x * (sqrt(w) - 3);
        }
    }
    x *= y;
    for (int i = 0; i < 3; i++) { // Halley's method on erf or erfc
        const double miss = y < 0.5 ? erf(x) - y : rest - erfc(x);
        const double step = miss / (2 / sqrt(TAPER_PI) * exp(-x * x));
        if (!isfinite(step)) {
            break;
        }
        x -= step / (1 + x * step);
    }
    return x;
}

double taper_erfinv(double x)
{
    const double y = fabs(x);
    if (!(y <= 1)) {
        return NAN;
    }
    return y == 1 ? copysign(INFINITY, x) : copysign(erf_inverse(y, 1 - y), x);
}

double taper_ndtri(double p)
{
    if (!(p >= 0 && p <= 1)) {
        return NAN;
    }
    if (p == 0 || p == 1) {
        return p == 0 ? -INFINITY : INFINITY;
    }
    const double tail = p < 0.5 ? p : 1 - p;
    const double x = TAPER_SQRT2 * erf_inverse(1 - 2 * tail, 2 * tail);
    return p < 0.5 ? -x : x;
}

double taper_erfcx(double x)
{
    if (x < 10) {
        return exp(x * x) * erfc(x);
    }
    double sum = 1, term = 1;
    const double z = -0.5 / (x * x);
    for (int k = 1; k < 12; k++) {
        term *= z * (2 * k - 1);
        sum += term;
    }
    return sum / (x * sqrt(TAPER_PI));
}

double taper_ndtr(double x)
{
    return 0.5 * erfc(-x / TAPER_SQRT2);
}

double taper_log_ndtr(double x)
{
    const double t = x / TAPER_SQRT2;
    return x < -1 ? log(taper_erfcx(-t) / 2) - t * t : log1p(-erfc(t) / 2);
}

// ---- the gamma function and related functions

double taper_digamma(double x)
{
    if (x == 0) {
        return copysign(INFINITY, -x);
    }
    if (x < 0) {
        if (x == trunc(x)) {
            return NAN;
        }
        double whole;
        // The recursion ends after one call, because 1 - x > 0
        return taper_digamma(1 - x) - TAPER_PI / tan(TAPER_PI * modf(x, &whole));
    }
    double shift = 0;
    while (x < 12) {
        shift -= 1 / x;
        x += 1;
    }
    if (isinf(x)) {
        return x;
    }
    const double z = 1 / (x * x); // terms of the asymptotic expansion, with the Bernoulli numbers B2k / 2k
    const double series =
        z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760)))));
    return shift + log(x) - 0.5 / x - series;
}

double taper_zeta(double x, double q)
{
    if (x == 1) {
        return INFINITY;
    }
    if (!(x > 1) || isnan(q)) {
        return NAN;
    }
    if (isinf(q) && q > 0) {
        return 0;
    }
    if (q <= 0) {
        if (q == floor(q)) {
            return INFINITY;
        }
        if (x != floor(x)) {
            return NAN;
        }
    }
    // Euler-Maclaurin summation: the first terms, then the integral and the Bernoulli corrections.
    enum { FIRST = 12 };
    double sum = 0, a = q;
    for (int k = 0; k < FIRST || (a < FIRST && k < 1000); k++) {
        const double term = pow(a, -x);
        sum += term;
        a += 1;
        if (a > FIRST && fabs(term) < fabs(sum) * 1e-18) {
            return sum;
        }
    }
    static const double b[] = {1.0 / 12,       -1.0 / 720,     1.0 / 30240,
                               -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0};
    const double base = pow(a, -x);
    sum += base * a / (x - 1) + 0.5 * base;
    double factor = x * base / a;
    for (size_t k = 0; k < sizeof b / sizeof b[0]; k++) {
        sum += b[k] * factor;
        factor *= (x + 2 * (double)k + 1) * (x + 2 * (double)k + 2) / (a * a);
    }
    return sum;
}

double taper_polygamma(double n, double x)
{
    if (n == 0) {
        return taper_digamma(x);
    }
    if (n == 1 && x < 0.5) { // trigamma needs reflection, because taper_zeta has no value left of zero
        const double s = sin(TAPER_PI * x);
        return TAPER_PI * TAPER_PI / (s * s) - taper_zeta(2, 1 - x);
    }
    const double sign = fmod(n, 2) == 0 ? -1 : 1;
    return sign * exp(lgamma(n + 1)) * taper_zeta(n + 1, x);
}

double taper_mvlgamma(double x, double p)
{
    double sum = 0.25 * p * (p - 1) * log(TAPER_PI);
    for (double j = 0; j < p; j++) {
        sum += lgamma(x - 0.5 * j);
    }
    return sum;
}

// ---- the incomplete gamma functions
static double gamma_prefactor(double a, double x)
{
    return exp(a * log(x) - x - lgamma(a));
}

// Computes the lower incomplete gamma function, divided by gamma(a), by its series. The series, and the continued
// fraction below, end when a step changes the result by less than `enough` of its value. The series adds four terms
// with one division.
static double gamma_series(double a, double x, double enough)
{
    double sum = 1 / a, term = sum;
    for (double k = a; k < a + 10000 && term > sum * enough; k += 4) {
        const double half = (k + 3) * (k + 4), square = x * x, part = term / ((k + 1) * (k + 2) * half);
        sum += part * x * (half * (k + 2 + x) + square * (k + 4 + x));
        term = part * square * square;
    }
    return sum * gamma_prefactor(a, x);
}

// Computes the numerators and denominators of the continued fraction's convergents, so that no step waits for a
// division.
static double gamma_fraction(double a, double x, double enough)
{
    double b = x + 1 - a, top = 1, bottom = b, top_before = 0, bottom_before = 1;
    for (int k = 1; k < 10000; k++) {
        const double factor = k * (a - k);
        b += 2;
        const double next_top = b * top + factor * top_before, next_bottom = b * bottom + factor * bottom_before;
        top_before = top, bottom_before = bottom, top = next_top, bottom = next_bottom;
        const double now = top * bottom_before, before = top_before * bottom;
        if (fabs(now - before) <= fabs(now) * enough) {
            break;
        }
        if (fabs(bottom) > 1e100) { // top and bottom are scaled, so that their products remain finite
            top *= 1e-100, bottom *= 1e-100, top_before *= 1e-100, bottom_before *= 1e-100;
        }
    }
    return top / bottom * gamma_prefactor(a, x);
}

// Computes the lower (sign -1) or upper (sign 1) incomplete gamma function for `a` of at least LARGE, by Temme's
// uniform expansion. For such a, the series and the continued fraction take about sqrt(a) steps, and their prefactor
// loses digits because its exponent is large.
enum { LARGE = 10000 };
static double gamma_large(double a, double x, double sign)
{
    // Coefficients of powers of eta, one table per power of 1 / a (N. M. Temme, 1979).
    static const double c0[] = {-3.3333333333333333e-1, 8.3333333333333333e-2,  -1.4814814814814815e-2,
                                1.1574074074074074e-3,  3.527336860670194e-4,   -1.7875514403292181e-4,
                                3.9192631785224378e-5,  -2.1854485106799922e-6, -1.85406221071516e-6,
                                8.296711340953086e-7,   -1.7665952736826079e-7, 6.7078535434014986e-9,
                                1.0261809784240308e-8};
    static const double c1[] = {-1.8518518518518519e-3, -3.4722222222222222e-3, 2.6455026455026455e-3,
                                -9.9022633744855967e-4, 2.0576131687242798e-4,  -4.0187757201646091e-7,
                                -1.8098550334489978e-5, 7.6491609160811101e-6,  -1.6120900894563446e-6};
    static const double c2[] = {4.1335978835978836e-3, -2.6813271604938272e-3, 7.7160493827160494e-4};
    const double off = (x - a) / a;
    if (!(fabs(off) < 0.4)) {
        return (off > 0) == (sign < 0) ? 1 : 0;
    }
    // Computes log1p(off) - off. For small off the subtraction would cancel all digits, so off^2 times a series is
    // computed instead.
    double half = 0;
    if (fabs(off) < 0.05) {
        for (int k = 14; k >= 2; k--) {
            half = 1.0 / k - off * half;
        }
        half *= off * off;
    } else {
        half = off - log1p(off);
    }
    const double eta = copysign(sqrt(2 * half), off);
    double first = 0, second = 0, third = 0;
    for (size_t i = sizeof c0 / sizeof c0[0]; i-- > 0;) {
        first = c0[i] + eta * first;
    }
    for (size_t i = sizeof c1 / sizeof c1[0]; i-- > 0;) {
        second = c1[i] + eta * second;
    }
    for (size_t i = sizeof c2 / sizeof c2[0]; i-- > 0;) {
        third = c2[i] + eta * third;
    }
    const double rest = exp(-a * half) / sqrt(2 * TAPER_PI * a) * (first + (second + third / a) / a);
    return 0.5 * erfc(sign * eta * sqrt(a / 2)) + sign * rest;
}

static double igamma(double a, double x, double enough)
{
    if (x < 0 || a < 0 || isnan(a) || isnan(x) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) {
        return NAN;
    }
    if (a == 0 || isinf(x)) {
        return 1;
    }
    if (x == 0 || isinf(a)) {
        return 0;
    }
    if (a >= LARGE) {
        return gamma_large(a, x, -1);
    }
    return x < a + 1 ? gamma_series(a, x, enough) : 1 - gamma_fraction(a, x, enough);
}

static double igammac(double a, double x, double enough)
{
    if (x < 0 || a < 0 || isnan(a) || isnan(x) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) {
        return NAN;
    }
    if (a == 0 || isinf(x)) {
        return 0;
    }
    if (x == 0 || isinf(a)) {
        return 1;
    }
    if (a >= LARGE) {
        return gamma_large(a, x, 1);
    }
    return x < a + 1 ? 1 - gamma_series(a, x, enough) : gamma_fraction(a, x, enough);
}

// Defines a function for double results and one for float results. The function for floats ends earlier, at the
// precision of a float.
#define PRECISIONS(name)                                                                                               \
    double taper_##name(double a, double x)                                                                            \
    {                                                                                                                  \
        return name(a, x, 1e-15);                                                                                      \
    }                                                                                                                  \
    float taper_##name##f(float a, float x)                                                                            \
    {                                                                                                                  \
        return (float)name((double)a, (double)x, 1e-8);                                                                \
    }
PRECISIONS(igamma)
PRECISIONS(igammac)

// ---- modified Bessel functions: the power series, whose terms are all positive, or the expansion at infinity

static double bessel_scaled(int order, double x) // computes I(x) exp(-x) of this order for x >= 0
{
    if (isnan(x) || isinf(x)) {
        return isnan(x) ? x : 0;
    }
    const double v = order;
    double sum = 1, term = 1;
    if (x < 40) {
        const double z = x * x / 4;
        for (int k = 1; k < 500 && term > sum * 1e-18; k++) {
            term *= z / (k * (k + v));
            sum += term;
        }
        return exp(-x) * sum * (order == 0 ? 1 : x / 2);
    }
    for (int k = 1; k < 30 && fabs(term) > 1e-18; k++) {
        term *= -(4 * v * v - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
        sum += term;
    }
    return sum / sqrt(2 * TAPER_PI * x);
}

double taper_i0e(double x)
{
    return bessel_scaled(0, fabs(x));
}
double taper_i0(double x)
{
    return isinf(x) ? NAN : exp(fabs(x)) * bessel_scaled(0, fabs(x)); // PyTorch returns NaN at infinity
}
double taper_i1e(double x)
{
    const double r = bessel_scaled(1, fabs(x));
    return x < 0 ? -r : r;
}
double taper_i1(double x)
{
    const double r = isinf(x) ? NAN : exp(fabs(x)) * bessel_scaled(1, fabs(x));
    return x < 0 ? -r : r;
}

// ---- functions of two operands

double taper_logaddexp(double a, double b)
{
    if (isinf(a) && a == b) {
        return a;
    }
    const double m = a > b ? a : b; // if a is NaN, m is b, but the difference below is NaN
    return m + log1p(exp(-fabs(a - b)));
}

double taper_logaddexp2(double a, double b)
{
    if (isinf(a) && a == b) {
        return a;
    }
    const double m = a > b ? a : b;
    return m + log1p(exp2(-fabs(a - b))) / TAPER_LN2;
}

// Floor division and remainder with the signs of Python's // and %.
#define FLOOR_DIVISION(type, suffix)                                                                                   \
    type taper_remainder##suffix(type a, type b)                                                                       \
    {                                                                                                                  \
        const type mod = fmod##suffix(a, b);                                                                           \
        return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;                                                       \
    }                                                                                                                  \
    type taper_floor_div##suffix(type a, type b)                                                                       \
    {                                                                                                                  \
        if (b == 0) {                                                                                                  \
            return a / b;                                                                                              \
        }                                                                                                              \
        const type mod = fmod##suffix(a, b);                                                                           \
        type div = (a - mod) / b;                                                                                      \
        if (mod != 0 && (b < 0) != (mod < 0)) {                                                                        \
            div -= 1;                                                                                                  \
        }                                                                                                              \
        if (div == 0) {                                                                                                \
            return copysign##suffix(0, a / b);                                                                         \
        }                                                                                                              \
        const type low = floor##suffix(div);                                                                           \
        return div - low > (type)0.5 ? low + 1 : low;                                                                  \
    }
FLOOR_DIVISION(double, )
FLOOR_DIVISION(float, f)

int64_t taper_int_pow(int64_t a, int64_t b)
{
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    }
    uint64_t result = 1, base = (uint64_t)a;
    for (uint64_t n = (uint64_t)b; n != 0; n >>= 1) {
        result = (n & 1) != 0 ? result * base : result;
        base *= base;
    }
    return (int64_t)result;
}

int64_t taper_int_gcd(int64_t a, int64_t b)
{
    uint64_t u = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, v = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (v != 0) {
        const uint64_t r = u % v;
        u = v;
        v = r;
    }
    return (int64_t)u;
}

int64_t taper_int_lcm(int64_t a, int64_t b)
{
    const int64_t g = taper_int_gcd(a, b);
    if (g == 0) {
        return 0;
    }
    const int64_t product = taper_wrap_mul(g == INT64_MIN ? 1 : a / g, b);
    return product < 0 ? taper_wrap_neg(product) : product;
}
