// SPDX-License-Identifier: BSD-2-Clause
// Compares the special functions of native.h on fine grids with their definitions in long doubles, or with C's
// functions.
#include <math.h>

#include "check.h"
#include "ops/kernels/native.h"

// Returns the modified Bessel function I(x) * exp(-x) for x >= 0, by its series or its integral.
static long double bessel_i(int order, long double x)
{
    long double sum = 1, term = 1;
    if (x > 60) {
        for (int k = 1; k < 25; k++) {
            term *= -(4.0L * order * order - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
            sum += term;
        }
        return sum / sqrtl(2 * 3.14159265358979323846264338328L * x);
    }
    for (int k = 1; k < 400 && term > sum * 1e-22L; k++) {
        term *= x * x / 4 / (k * (long double)(k + order));
        sum += term;
    }
    return expl(-x) * sum * (order == 0 ? 1 : x / 2);
}

// Returns derivative `order`, 0 or 1, of the digamma function for x > 0.
static long double digamma_right(int order, long double x)
{
    static const long double b[] = {1.0L / 6, -1.0L / 30, 1.0L / 42, -1.0L / 30, 5.0L / 66, -691.0L / 2730, 7.0L / 6};
    long double sum = 0;
    for (; x < 20; x++)
        sum += order == 0 ? -1 / x : 1 / (x * x);
    sum += order == 0 ? logl(x) - 0.5L / x : 1 / x + 0.5L / (x * x);
    long double power = 1 / (x * x);
    for (int k = 0; k < 7; k++, power /= x * x)
        sum += order == 0 ? -b[k] / (2 * k + 2) * power : b[k] * power / x;
    return sum;
}

static long double value_of(taper_native native, float number)
{
    const long double x = (long double)number, pi = 3.14159265358979323846264338328L;
    const float sine = sinf((float)pi * number);
    switch (native) {
    case TAPER_NATIVE_ATANH:
        return atanhl(x);
    case TAPER_NATIVE_I0:
        return isinf(x) ? NAN : expl(fabsl(x)) * bessel_i(0, fabsl(x));
    case TAPER_NATIVE_I0E:
        return isinf(x) ? 0 : bessel_i(0, fabsl(x));
    case TAPER_NATIVE_I1:
        return isinf(x) ? NAN : copysignl(expl(fabsl(x)) * bessel_i(1, fabsl(x)), x);
    case TAPER_NATIVE_I1E:
        return isinf(x) ? 0 : copysignl(bessel_i(1, fabsl(x)), x);
    case TAPER_NATIVE_NDTR:
        return 0.5L * erfcl(-x / sqrtl(2));
    case TAPER_NATIVE_DIGAMMA:
        return x == 0                    ? (signbit(number) ? INFINITY : -INFINITY)
               : x < 0 && x == floorl(x) ? NAN
               : x < 0                   ? digamma_right(0, 1 - x) - pi / tanl(pi * (x - roundl(x)))
               : isinf(x)                ? x
                                         : digamma_right(0, x);
    case TAPER_NATIVE_LGAMMA:
        return lgammal(x);
    default: // for x below 1/2, computes digamma by the reflection formula, with the sine of the rounded pi x
        return isinf(x) && x > 0 ? 0
               : number < 0.5f   ? (long double)((float)(pi * pi) / (sine * sine)) - digamma_right(1, 1 - x)
                                 : digamma_right(1, x);
    }
}

static bool is_right(taper_native native, float x, float got)
{
    if (native == TAPER_NATIVE_NDTRI) { // checked by its inverse function, whose derivative is the density
        const long double tail = x > 0.5f ? 1 - (long double)x : (long double)x;
        if (!(tail > 0))
            return tail == 0 ? isinf(got) && (got < 0) == (x < 0.5f) : isnan(got);
        const long double y = -fabsl((long double)got), off = 0.5L * erfcl(-y / sqrtl(2)) - tail;
        const long double slope = expl(-y * y / 2) / sqrtl(2 * 3.14159265358979323846264338328L);
        return !isnan(got) && (x == 0.5f ? got == 0 : (got < 0) == (x < 0.5f)) &&
               fabsl(off) <= slope * fabsl(y) * 3e-7L + tail * 2e-8L;
    }
    const long double want = value_of(native, x);
    if (isnan(want) || isnan(got) || isinf(got) || isinf(want))
        return isnan(want) ? isnan(got) : (float)want == got || (fabsl(want) > 3.4e38L && isinf(got));
    const long double near_zero = native == TAPER_NATIVE_DIGAMMA ? 1e-12L : native == TAPER_NATIVE_LGAMMA ? 1e-13L : 0;
    const long double most = native == TAPER_NATIVE_TRIGAMMA && x < 0.5f ? 1e-6L : 1.5e-7L;
    return fabsl((long double)got - want) <=
           fabsl(want) * most + (near_zero != 0 ? near_zero * (1 + fabsl((long double)x)) : 0) + 0x1p-149L;
}

void check_native_special(const taper_native_entry *entry)
{
    enum { TOGETHER = 4 * TAPER_NATIVE_STEP, GRID = 120 };
    static const float specials[] = {0.0f,       -0.0f,    1,           -1,         0.5f,       -0.5f,      2,
                                     -2,         -3,       INFINITY,    -INFINITY,  NAN,        1e-45f,     -1e-45f,
                                     1e-38f,     1e38f,    -1e38f,      1e10f,      -1e10f,     10,         -170.0f,
                                     0.4999999f, 1e30f,    0.99999994f, 1.0000001f, 2.0000002f, 1.4616321f, 1e-7f,
                                     8193.5f,    -8193.5f, -8191.5f,    88,         89,         -9000};
    enum { SPECIALS = sizeof specials / sizeof *specials };
    for (int native = TAPER_NATIVE_ATANH; native <= (int)TAPER_NATIVE_TRIGAMMA; native++) {
        const bool unit = native == (int)TAPER_NATIVE_ATANH || native == (int)TAPER_NATIVE_NDTRI;
        for (int row = 0; row < GRID; row++) {
            float *x = check_floats(TOGETHER, CHECK_TAIL, 0), *y = check_floats(TOGETHER, CHECK_HEAD, 0);
            for (size_t i = 0; i < TOGETHER; i++) {
                const float at = ((float)(row * TOGETHER) + (float)i) / (float)(GRID * TOGETHER);
                x[i] = row == 0       ? specials[i % SPECIALS]
                       : row % 4 == 0 ? ldexpf(check_uniform(-1, 1), -(int)check_below(140))
                       : unit         ? (native == (int)TAPER_NATIVE_NDTRI ? at : 2 * at - 1)
                       : row % 4 == 1 ? (at - 0.5f) * 300
                       : row % 4 == 2 ? (at - 0.3f) * 20
                                      : ldexpf(check_uniform(0, 1), (int)check_below(120));
                x[i] = row % 8 == 4 && native == (int)TAPER_NATIVE_NDTRI ? fabsf(x[i]) : x[i];
            }
            const void *in[] = {x, x, x};
            (void)entry->functions[native][TAPER_NATIVE_F32](TOGETHER, in, y,
                                                             &(taper_native_numbers){{1, 0, 0}, {0, 0}});
            for (size_t i = 0; i < TOGETHER; i++)
                check_that(is_right((taper_native)native, x[i], y[i]), "special function %d of %a is %a, not %La",
                           native, (double)x[i], (double)y[i], value_of((taper_native)native, x[i]));
            check_memory_reset();
        }
    }
}
