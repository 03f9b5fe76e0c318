// SPDX-License-Identifier: BSD-2-Clause
// Functions behind elementwise operators: what the C library lacks. A float version ends in f.
#ifndef TAPER_OPS_ELEMENTWISE_MATH_H
#define TAPER_OPS_ELEMENTWISE_MATH_H

#include <float.h>
#include <math.h>

#include "ops/elementwise_complex.h"

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
double taper_ndtr(double x);
double taper_ndtri(double x);
double taper_log_ndtr(double x);
double taper_igamma(double a, double x);
double taper_igammac(double a, double x);
double taper_logaddexp(double a, double b);
double taper_logaddexp2(double a, double b);
double taper_floor_div(double a, double b);
float taper_floor_divf(float a, float b);
double taper_remainder(double a, double b);
float taper_remainderf(float a, float b);

#define TAPER_MATH_FLOAT1(name)                \
    static inline float name##f(float x)       \
    {                                          \
        return (float)name((double)x);         \
    }
#define TAPER_MATH_FLOAT2(name)                   \
    static inline float name##f(float a, float b) \
    {                                             \
        return (float)name((double)a, (double)b); \
    }
TAPER_MATH_FLOAT1(taper_erfinv)
TAPER_MATH_FLOAT1(taper_erfcx)
TAPER_MATH_FLOAT1(taper_digamma)
TAPER_MATH_FLOAT2(taper_zeta)
TAPER_MATH_FLOAT2(taper_polygamma)
TAPER_MATH_FLOAT2(taper_mvlgamma)
TAPER_MATH_FLOAT1(taper_i0)
TAPER_MATH_FLOAT1(taper_i0e)
TAPER_MATH_FLOAT1(taper_i1)
TAPER_MATH_FLOAT1(taper_i1e)
TAPER_MATH_FLOAT1(taper_ndtr)
TAPER_MATH_FLOAT1(taper_ndtri)
TAPER_MATH_FLOAT1(taper_log_ndtr)
TAPER_MATH_FLOAT2(taper_igamma)
TAPER_MATH_FLOAT2(taper_igammac)
TAPER_MATH_FLOAT2(taper_logaddexp)
TAPER_MATH_FLOAT2(taper_logaddexp2)
#undef TAPER_MATH_FLOAT1
#undef TAPER_MATH_FLOAT2

// ---- integers: two's complement, never undefined

static inline int64_t taper_int_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t taper_int_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t taper_int_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
static inline int64_t taper_int_neg(int64_t a)
{
    return (int64_t)(0 - (uint64_t)a);
}
// Division and remainders by zero are noted in args; by -1 they do not overflow.
static inline int64_t taper_int_div(int64_t a, int64_t b, taper_ew_args *args)
{
    args->zero_division = args->zero_division || b == 0;
    return b == 0 ? 0 : b == -1 ? taper_int_neg(a) : a / b;
}
static inline int64_t taper_int_mod(int64_t a, int64_t b, taper_ew_args *args)
{
    args->zero_division = args->zero_division || b == 0;
    return b == 0 || b == -1 ? 0 : a % b;
}
static inline int64_t taper_int_floor_div(int64_t a, int64_t b, taper_ew_args *args)
{
    const int64_t q = taper_int_div(a, b, args), r = taper_int_mod(a, b, args);
    return q - (r != 0 && (r < 0) != (b < 0));
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
