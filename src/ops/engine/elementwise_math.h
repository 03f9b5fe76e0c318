// SPDX-License-Identifier: BSD-2-Clause
// Functions of elementwise operators that the C library lacks. The name of a float version ends in f.
#ifndef TAPER_OPS_ELEMENTWISE_MATH_H
#define TAPER_OPS_ELEMENTWISE_MATH_H

#include <float.h>
#include <math.h>

#include "base/checked.h"
#include "base/half.h"
#include "ops/engine/elementwise_complex.h"

#define TAPER_PI 3.14159265358979323846
#define TAPER_LN2 0.69314718055994530942
#define TAPER_SQRT2 1.41421356237309504880

double taper_erfinv(double x);
double taper_erfcx(double x);
double taper_digamma(double x);
double taper_zeta(double x, double q);
double taper_polygamma(double n, double x);
double taper_mvlgamma(double x, double p);
double taper_i0(double x);
double taper_i0e(double x);
double taper_i1(double x);
double taper_i1e(double x);
double taper_bessel_j0(double x);
double taper_bessel_j1(double x);
double taper_bessel_y0(double x);
double taper_bessel_y1(double x);
double taper_bessel_k0(double x);
double taper_bessel_k1(double x);
double taper_scaled_bessel_k0(double x);
double taper_scaled_bessel_k1(double x);
double taper_spherical_bessel_j0(double x);
double taper_airy_ai(double x);
double taper_ndtr(double x);
double taper_ndtri(double x);
double taper_log_ndtr(double x);
double taper_igamma(double a, double x);
float taper_igammaf(float a, float x);
double taper_igammac(double a, double x);
float taper_igammacf(float a, float x);
double taper_logaddexp(double a, double b);
double taper_logaddexp2(double a, double b);
double taper_floor_div(double a, double b);
float taper_floor_divf(float a, float b);
double taper_remainder(double a, double b);
float taper_remainderf(float a, float b);

// exp, tanh and erf of floats. They have no branches, so that the compiler vectorizes loops over them. The error is at
// most 2 ulp.
static inline float taper_expf(float x)
{
    const float magic = 12582912.0f; // adding 1.5 * 2^23 rounds a float to an integer, which is then in the low bits
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    const float t = x * 1.44269504f + magic, n = t - magic;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 0.00139338835f;
    p = p * r + 0.0083633356f;
    p = p * r + 0.0416664628f;
    p = p * r + 0.16666576f;
    p = p * r + 0.500000001f;
    p = p * (r * r) + r + 1.0f;
    // The result is multiplied by 2^n in two factors because the result may be subnormal.
    const uint32_t k = taper_float_to_bits(t) - 0x4b400000u + 512u; // k is the exponent n plus 512
    const uint32_t half = k >> 1;
    const float first = taper_bits_to_float((half - 256u + 127u) << 23),
                second = taper_bits_to_float((k - half - 256u + 127u) << 23);
    return p * first * second;
}

static inline float taper_tanhf(float x)
{
    const float a = fabsf(x), z = x * x;
    const float wide = 1.0f - 2.0f / (taper_expf(2.0f * (a > 10.0f ? 10.0f : a)) + 1.0f);
    float p = -0.00604775184f;
    p = p * z + 0.0209628308f;
    p = p * z + -0.0538433797f;
    p = p * z + 0.133327149f;
    p = p * z + -0.333333281f;
    const float narrow = a + a * z * p;
    const float r = a < 0.625f ? narrow : a != a ? x : wide;
    return copysignf(r, x);
}

static inline float taper_erff(float x)
{
    static const float small[] = {7.88249762e-05f, -0.000801885513f, 0.00518931196f, -0.0268543288f,
                                  0.112835975f,    -0.376126269f,    1.12837917f};
    static const float large[] = {-0.0535406152f, -0.217960584f, 0.0597142139f, 0.631746591f,
                                  0.966632845f,   0.854371979f,  0.255395676f};
    float a = fabsf(x);
    a = a > 4.0f ? 4.0f : a; // a NaN stays NaN
    const float z = a * a, u = 1.0f / (1.0f + 0.5f * a) - 0.5f;
    float p = small[0], q = large[0];
    for (size_t i = 1; i < 7; i++) {
        p = p * z + small[i];
        q = q * u + large[i];
    }
    return copysignf(a < 1.0f ? a * p : 1.0f - taper_expf(-z) * q, x);
}

static inline double taper_erf(double x)
{
    return erf(x);
}
static inline double taper_exp(double x)
{
    return exp(x);
}
static inline double taper_tanh(double x)
{
    return tanh(x);
}

#define TAPER_MATH_FLOAT1(name)                                                                                        \
    static inline float name##f(float x)                                                                               \
    {                                                                                                                  \
        return (float)name((double)x);                                                                                 \
    }
#define TAPER_MATH_FLOAT2(name)                                                                                        \
    static inline float name##f(float a, float b)                                                                      \
    {                                                                                                                  \
        return (float)name((double)a, (double)b);                                                                      \
    }
TAPER_MATH_FLOAT1(taper_erfinv)
TAPER_MATH_FLOAT1(taper_erfcx)
TAPER_MATH_FLOAT1(taper_digamma)
TAPER_MATH_FLOAT2(taper_zeta)
TAPER_MATH_FLOAT2(taper_mvlgamma)
TAPER_MATH_FLOAT1(taper_i0)
TAPER_MATH_FLOAT1(taper_i0e)
TAPER_MATH_FLOAT1(taper_i1)
TAPER_MATH_FLOAT1(taper_i1e)
TAPER_MATH_FLOAT1(taper_bessel_j0)
TAPER_MATH_FLOAT1(taper_bessel_j1)
TAPER_MATH_FLOAT1(taper_bessel_y0)
TAPER_MATH_FLOAT1(taper_bessel_y1)
TAPER_MATH_FLOAT1(taper_bessel_k0)
TAPER_MATH_FLOAT1(taper_bessel_k1)
TAPER_MATH_FLOAT1(taper_scaled_bessel_k0)
TAPER_MATH_FLOAT1(taper_scaled_bessel_k1)
TAPER_MATH_FLOAT1(taper_spherical_bessel_j0)
TAPER_MATH_FLOAT1(taper_airy_ai)
TAPER_MATH_FLOAT1(taper_ndtr)
TAPER_MATH_FLOAT1(taper_ndtri)
TAPER_MATH_FLOAT1(taper_log_ndtr)
TAPER_MATH_FLOAT2(taper_logaddexp)
TAPER_MATH_FLOAT2(taper_logaddexp2)
// Returns the polygamma function of order n. The reflection formula is computed in single precision. Near the poles
// sin(pi x) then has the value that PyTorch's rounding gives it.
static inline float taper_polygammaf(float n, float x)
{
    if (n == 1 && x < 0.5f) {
        const float s = sinf((float)TAPER_PI * x);
        return (float)(TAPER_PI * TAPER_PI) / (s * s) - (float)taper_zeta(2, 1 - (double)x);
    }
    return (float)taper_polygamma((double)n, (double)x);
}
#undef TAPER_MATH_FLOAT1
#undef TAPER_MATH_FLOAT2

// ---- integers: two's complement, never undefined

// A division or remainder by zero sets args->zero_division and gives 0. Division by -1 does not overflow.
static inline int64_t taper_int_div(int64_t a, int64_t b, taper_ew_args *args)
{
    args->zero_division = args->zero_division || b == 0;
    return b == 0 ? 0 : b == -1 ? taper_wrap_neg(a) : a / b;
}
static inline int64_t taper_int_mod(int64_t a, int64_t b, taper_ew_args *args)
{
    args->zero_division = args->zero_division || b == 0;
    return b == 0 || b == -1 ? 0 : a % b;
}
static inline int64_t taper_int_floor_div(int64_t a, int64_t b, taper_ew_args *args)
{
    if (b == 0 || b == -1) {
        return taper_int_div(a, b, args);
    }
    const int64_t q = a / b, r = a - q * b; // the remainder comes from the quotient, so there is one division
    return q - ((r != 0) & ((a ^ b) < 0));
}
static inline int64_t taper_int_floor_mod(int64_t a, int64_t b, taper_ew_args *args)
{
    const int64_t r = taper_int_mod(a, b, args);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
int64_t taper_int_pow(int64_t a, int64_t b);
int64_t taper_int_gcd(int64_t a, int64_t b);
int64_t taper_int_lcm(int64_t a, int64_t b);

#endif
