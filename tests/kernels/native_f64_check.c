// SPDX-License-Identifier: BSD-2-Clause
// Compares the functions of native.h for doubles with C's functions for long doubles.
#include <math.h>
#include <string.h>

#include "check.h"
#include "ops/kernels/native.h"

// Fills memory with numbers of all magnitudes, numbers near the turning points of functions, and special numbers.
void check_doubles_fill(double *x, size_t count)
{
    static const double edges[] = {0.0,    -0.0,      INFINITY,   -INFINITY, NAN,  1e300,
                                   -1e300, 0x1p-1074, 0x1p-1022,  -1e-310,   1.0,  -1.0,
                                   0.5,    709.7827,  -745.13321, 710,       -746, 37.5};
    const bool any = check_below(2) != 0; // false to fill without special numbers
    for (size_t i = 0; i < count; i++) {
        const double fine = (double)check_uniform(-1, 1) + (double)check_uniform(-1, 1) * 0x1p-24;
        const size_t kind = check_below(8);
        x[i] = any && kind == 0 ? edges[check_below(sizeof edges / sizeof *edges)]
               : kind == 1      ? fine * 750
               : kind == 2      ? ldexp(fine, -(int)check_below(1000))
               : kind == 3      ? ldexp(fine, (int)check_below(1000))
               : kind == 4      ? 1 + fine * 0x1p-10
                                : fine * 4;
    }
}

void check_doubles_tame(int native, double *x, double *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (native == (int)TAPER_NATIVE_SIN || native == (int)TAPER_NATIVE_COS || native == (int)TAPER_NATIVE_TAN) {
            const double turn = 1.57079632679489662 * (double)((int)check_below(600001) - 300000);
            x[i] = check_below(2) ? turn + (double)check_uniform(-1, 1) : check_below(2) ? turn : fmod(x[i], 0x1p19);
            x[i] = isfinite(x[i]) ? x[i] : -0.0;
        } else if (native >= (int)TAPER_NATIVE_DIV_FLOOR && native <= (int)TAPER_NATIVE_REMAINDER) {
            y[i] = (double)check_uniform(1, 2) * (check_below(2) ? 1 : -1e-3) + 0x1p-40 * (double)check_uniform(-1, 1);
            const double near = y[i] * (double)((int)check_below(2001) - 1000); // the quotient is rounded to an integer
            x[i] = check_below(2) ? (double)check_uniform(-1000, 1000) : nextafter(near, check_below(2) ? 1e9 : -1e9);
        } else if (native == (int)TAPER_NATIVE_POW) {
            x[i] = check_below(8) ? exp((double)check_uniform(-600, 600)) : check_below(2) ? 1 : 0;
            const double most = x[i] > 0 ? 690 / (fabs(log2(x[i])) + 2) : 1000;
            y[i] = (double)check_uniform(x[i] > 0 ? -1 : 0x1p-20f, 1) * most;
        }
    }
}

static long double sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
}

// Returns the exact results of the divisions. PyTorch rounds each step of a division that floors.
static double divided(taper_native native, double x, double y)
{
    const double m = fmod(x, y);
    const bool turned = m != 0 && (m < 0) != (y < 0);
    if (native != TAPER_NATIVE_DIV_FLOOR) {
        return native == TAPER_NATIVE_REMAINDER && turned ? m + y : m;
    }
    const double whole = (x - m) / y - (turned ? 1 : 0);
    return y == 0                       ? x / y
           : whole == 0                 ? copysign(0, x / y)
           : whole - floor(whole) > 0.5 ? floor(whole) + 1
                                        : floor(whole);
}

// Returns the value of the function in long double. The allowed error is *bound * 2^-53. For a sum, *bound is the sum
// of the absolute values of the terms.
static long double value_of(int native, double a, double b, double c, const taper_native_numbers *p, long double *bound)
{
    const long double x = a, y = b, z = c, less = x - p->f[0];
    long double value;
    switch ((taper_native)native) {
    case TAPER_NATIVE_ADD:
        value = x + y;
        break;
    case TAPER_NATIVE_SUB:
        value = x - y;
        break;
    case TAPER_NATIVE_MUL:
        value = x * y;
        break;
    case TAPER_NATIVE_DIV:
        value = x / y;
        break;
    case TAPER_NATIVE_AFFINE:
        value = less * p->f[1] + p->f[2];
        *bound = fabsl(less * p->f[1]) + fabsl((long double)p->f[2]);
        return value;
    case TAPER_NATIVE_NORMALIZE:
        value = less * p->f[1] * y + z;
        *bound = fabsl(less * p->f[1] * y) + fabsl(z);
        return value;
    case TAPER_NATIVE_EXP:
        value = expl(x);
        break;
    case TAPER_NATIVE_EXPM1:
        value = expm1l(x);
        break;
    case TAPER_NATIVE_LOG:
        value = logl(x);
        break;
    case TAPER_NATIVE_LOG1P:
        value = log1pl(x);
        break;
    case TAPER_NATIVE_TANH:
        value = tanhl(x);
        break;
    case TAPER_NATIVE_SIN:
        value = sinl(x);
        break;
    case TAPER_NATIVE_COS:
        value = cosl(x);
        break;
    case TAPER_NATIVE_POW:
        value = powl(x, y);
        break;
    case TAPER_NATIVE_TAN:
        value = tanl(x);
        break;
    case TAPER_NATIVE_SQRT:
        value = sqrtl(x);
        break;
    case TAPER_NATIVE_RSQRT:
        value = 1 / sqrtl(x);
        break;
    case TAPER_NATIVE_RECIPROCAL:
        value = 1 / x;
        break;
    case TAPER_NATIVE_FLOOR:
        value = floorl(x);
        break;
    case TAPER_NATIVE_CEIL:
        value = ceill(x);
        break;
    case TAPER_NATIVE_TRUNC:
        value = truncl(x);
        break;
    case TAPER_NATIVE_ROUND:
        value = nearbyintl(x);
        break;
    case TAPER_NATIVE_ATAN:
        value = atanl(x);
        break;
    case TAPER_NATIVE_ASIN:
        value = asinl(x);
        break;
    case TAPER_NATIVE_ACOS:
        value = acosl(x);
        break;
    case TAPER_NATIVE_ATAN2:
        value = atan2l(x, y);
        break;
    case TAPER_NATIVE_SINH:
        value = sinhl(x);
        break;
    case TAPER_NATIVE_COSH:
        value = coshl(x);
        break;
    case TAPER_NATIVE_HYPOT:
        value = hypotl(x, y);
        break;
    case TAPER_NATIVE_ELU:
        value = x <= 0 ? expm1l(a * p->f[2]) * ((long double)p->f[0] * p->f[1]) : x * p->f[1];
        break;
    case TAPER_NATIVE_SOFTPLUS:
        value = (long double)(a * p->f[0]) > p->f[1] ? x : log1pl(expl(a * p->f[0])) / p->f[0];
        break;
    case TAPER_NATIVE_LOG_SIGMOID:
        value = (x < 0 ? x : 0) - log1pl(expl(-fabsl(x)));
        break;
    case TAPER_NATIVE_FMOD:
    case TAPER_NATIVE_REMAINDER:
    case TAPER_NATIVE_DIV_FLOOR:
        *bound = 0;
        return divided((taper_native)native, a, b);
    case TAPER_NATIVE_GELU_TANH: {
        const long double u = 2 * 0.79788456080286535588L * (x + 0.044715L * x * x * x);
        value = x * sigmoid(u);
        *bound = fabsl(value) * (1 + fabsl(u));
        return value;
    }
    case TAPER_NATIVE_MISH:
        value = x * tanhl(log1pl(expl(x)));
        break;
    case TAPER_NATIVE_SIGMOID:
        value = sigmoid(x);
        break;
    default:
        value = x * sigmoid(x);
        break;
    }
    *bound = fabsl(value);
    return value;
}

bool check_double_is(int native, double x, double y, double z, double got, const taper_native_numbers *p)
{
    long double bound;
    const long double want = value_of(native, x, y, z, p, &bound);
    if (isnan(want)) {
        return isnan(got);
    }
    if (fabsl(want) >= 0x1p1020L || bound >= 0x1p1020L) { // near the largest double, the result may be infinite
        return isinf(got) || isnan(got) || fabsl(got - want) <= bound * 0x1p-50L;
    }
    const bool exponential = native == (int)TAPER_NATIVE_SIGMOID || native == (int)TAPER_NATIVE_SILU ||
                             native == (int)TAPER_NATIVE_MISH || native == (int)TAPER_NATIVE_SOFTPLUS ||
                             native == (int)TAPER_NATIVE_GELU_TANH;
    if (exponential && fabsl(want) < 0x1p-1000L) {
        return fabsl(got - want) <= fabsl(want); // the exponential underflows, so the result may be 0
    }
    const bool turns_sign = want == 0 && !isnan(got) && !signbit(got) != !signbit((double)want);
    return fabsl(got - want) <= bound * 0x1p-50L + 0x1p-1072L &&
           !(turns_sign && native >= (int)TAPER_NATIVE_EXP && x == 0);
}
