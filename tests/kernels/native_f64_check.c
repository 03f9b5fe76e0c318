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

static long double sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
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
    if ((native == (int)TAPER_NATIVE_SIGMOID || native == (int)TAPER_NATIVE_SILU) && x < -709) {
        return fabsl(got - want) <= fabsl(want); // the exponential underflows, so the result may be 0
    }
    const bool turns_sign = want == 0 && !isnan(got) && !signbit(got) != !signbit((double)want);
    return fabsl(got - want) <= bound * 0x1p-50L + 0x1p-1072L &&
           !(turns_sign && native >= (int)TAPER_NATIVE_EXP && x == 0);
}
