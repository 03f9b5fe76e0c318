// SPDX-License-Identifier: BSD-2-Clause
// Operators on one number: the functions of Python's math module.
#include <math.h>

#include "base/single.h"
#include "ops/call/call.h"
#include "ops/lang/scalar.h"

static const double pi = 3.14159265358979323846;

static double real_math(unsigned code, double x)
{
    switch (code) {
    case TAPER_MATH_EXP:
        return exp(x);
    case TAPER_MATH_LOG:
        return log(x);
    case TAPER_MATH_LOG10:
        return log10(x);
    case TAPER_MATH_SQRT:
        return sqrt(x);
    case TAPER_MATH_SIN:
        return sin(x);
    case TAPER_MATH_COS:
        return cos(x);
    case TAPER_MATH_TAN:
        return tan(x);
    case TAPER_MATH_SINH:
        return sinh(x);
    case TAPER_MATH_COSH:
        return cosh(x);
    case TAPER_MATH_TANH:
        return tanh(x);
    case TAPER_MATH_ASIN:
        return asin(x);
    case TAPER_MATH_ACOS:
        return acos(x);
    case TAPER_MATH_ATAN:
        return atan(x);
    case TAPER_MATH_ASINH:
        return asinh(x);
    case TAPER_MATH_ACOSH:
        return acosh(x);
    case TAPER_MATH_ATANH:
        return atanh(x);
    case TAPER_MATH_EXPM1:
        return expm1(x);
    case TAPER_MATH_LOG1P:
        return log1p(x);
    case TAPER_MATH_ERF:
        return erf(x);
    case TAPER_MATH_ERFC:
        return erfc(x);
    case TAPER_MATH_GAMMA:
        return tgamma(x);
    case TAPER_MATH_LGAMMA:
        return lgamma(x);
    case TAPER_MATH_FABS:
    case TAPER_MATH_ABS:
        return fabs(x);
    case TAPER_MATH_DEGREES:
        return x * (180.0 / pi);
    case TAPER_MATH_RADIANS:
        return x * (pi / 180.0);
    case TAPER_MATH_ROUND: // rounds a half to the even integer
        return rint(x);
    case TAPER_MATH_NEG:
        return -x;
    default: // the code is TAPER_MATH_ANGLE
        return signbit(x) ? pi : 0;
    }
}

static taper_status of_complex(taper_call *call, unsigned code, taper_pair z)
{
    if (code <= TAPER_MATH_ATANH) {
        return taper_ret_complex(call, 0, taper_pair_math((taper_math_code)code, z));
    }
    taper_val value;
    switch (code) {
    case TAPER_MATH_NEG:
        return taper_ret_complex(call, 0, (taper_pair){-z.re, -z.im});
    case TAPER_MATH_ABS:
        value = taper_val_double(hypot(z.re, z.im));
        break;
    case TAPER_MATH_ANGLE:
        value = taper_val_double(atan2(z.im, z.re));
        break;
    case TAPER_MATH_ISNAN:
        value = taper_val_bool(isnan(z.re) || isnan(z.im));
        break;
    case TAPER_MATH_ISINF:
        value = taper_val_bool(isinf(z.re) || isinf(z.im));
        break;
    case TAPER_MATH_ISFINITE:
        value = taper_val_bool(isfinite(z.re) && isfinite(z.im));
        break;
    default:
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "not defined for complex numbers");
    }
    taper_ret(call, 0, value);
    return TAPER_OK;
}

static taper_status to_whole(taper_call *call, double number, taper_val *value)
{
    if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0)) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Cannot convert float %f to integer", number);
    }
    *value = taper_val_int((int64_t)number);
    return TAPER_OK;
}

static taper_status unary(taper_call *call, bool rounded)
{
    const unsigned code = taper_call_code(call);
    taper_scalar a;
    TAPER_TRY(taper_arg_scalar(call, 0, &a));
    if (a.kind == TAPER_SCALAR_COMPLEX) {
        return of_complex(call, code, (taper_pair){a.f, a.im});
    }
    const bool whole = a.kind != TAPER_SCALAR_DOUBLE;
    const double x = a.f;
    taper_val value = taper_val_none();
    switch (code) {
    case TAPER_MATH_ISNAN:
        value = taper_val_bool(isnan(x));
        break;
    case TAPER_MATH_ISINF:
        value = taper_val_bool(isinf(x));
        break;
    case TAPER_MATH_ISFINITE:
        value = taper_val_bool(isfinite(x));
        break;
    case TAPER_MATH_FLOOR:
    case TAPER_MATH_CEIL:
        if (whole) {
            value = taper_val_int(a.i);
        } else {
            TAPER_TRY(to_whole(call, code == TAPER_MATH_FLOOR ? floor(x) : ceil(x), &value));
        }
        break;
    case TAPER_MATH_NEG:
        value = whole ? taper_val_int((int64_t)(0 - (uint64_t)a.i)) : taper_val_double(taper_step(rounded, -x));
        break;
    case TAPER_MATH_ABS:
        value = whole ? taper_val_int(a.i < 0 ? (int64_t)(0 - (uint64_t)a.i) : a.i)
                      : taper_val_double(taper_step(rounded, fabs(x)));
        break;
    default: {
        const double result = real_math(code, x);
        value = taper_val_double(taper_step(rounded, result));
        break;
    }
    }
    taper_ret(call, 0, value);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_number_unary)
{
    return unary(call, false);
}

// Kernel of the .Scalar overloads, whose results PyTorch rounds to single precision.
TAPER_KERNEL(taper_op_number_unary_single)
{
    return unary(call, true);
}

TAPER_KERNEL(taper_op_number_factorial)
{
    int64_t n;
    TAPER_TRY(taper_arg_int(call, 0, &n));
    if (n < 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "factorial() not defined for negative values");
    }
    // 66! has 64 factors of two, so for n > 65 the result is 0 modulo 2 to the power 64.
    uint64_t product = n > 65 ? 0 : 1;
    for (int64_t i = 2; i <= n && product != 0; i++) {
        product *= (uint64_t)i;
    }
    taper_ret(call, 0, taper_val_int((int64_t)product));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_number_frexp)
{
    double x;
    TAPER_TRY(taper_arg_double(call, 0, &x));
    int exponent = 0;
    const double fraction = isfinite(x) ? frexp(x, &exponent) : x;
    taper_ret(call, 0, taper_val_double(fraction));
    taper_ret(call, 1, taper_val_int(exponent));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_number_modf)
{
    double x, whole;
    TAPER_TRY(taper_arg_double(call, 0, &x));
    const double fraction = modf(x, &whole);
    taper_ret(call, 0, taper_val_double(fraction));
    taper_ret(call, 1, taper_val_double(whole));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_number_ldexp)
{
    double x;
    int64_t exponent;
    TAPER_TRY(taper_arg_double(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &exponent));
    const int64_t bounded = exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : exponent;
    taper_ret(call, 0, taper_val_double(ldexp(x, (int)bounded)));
    return TAPER_OK;
}
