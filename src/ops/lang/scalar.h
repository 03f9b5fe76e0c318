// SPDX-License-Identifier: BSD-2-Clause
// Codes and helpers that the operators on numbers share. One kernel is used by a family of operators. An operator's
// param is the address of the entry of taper_codes that contains the operator's code. Entry i contains i.
#ifndef TAPER_OPS_SCALAR_H
#define TAPER_OPS_SCALAR_H

#include "ops/call/call.h"

extern const uint8_t taper_codes[64];
#define TAPER_CODE(name) (&taper_codes[TAPER_##name])

static inline unsigned taper_call_code(const taper_call *call)
{
    return *(const uint8_t *)call->param;
}

// Operators on two numbers.
typedef enum taper_number_code {
    TAPER_NUMBER_ADD,
    TAPER_NUMBER_SUB,
    TAPER_NUMBER_MUL,
    TAPER_NUMBER_DIV,
    TAPER_NUMBER_FLOORDIV,
    TAPER_NUMBER_REMAINDER,
    TAPER_NUMBER_MATHREMAINDER,
    TAPER_NUMBER_FMOD,
    TAPER_NUMBER_POW,
    TAPER_NUMBER_POW_SCALAR, // power; 0 to a negative power is allowed
    TAPER_NUMBER_COPYSIGN,
    TAPER_NUMBER_ATAN2,
    TAPER_NUMBER_LOG,
    TAPER_NUMBER_POLAR,
    TAPER_NUMBER_MIN,
    TAPER_NUMBER_MAX,
    TAPER_NUMBER_AND,
    TAPER_NUMBER_OR,
    TAPER_NUMBER_XOR,
    TAPER_NUMBER_LSHIFT,
    TAPER_NUMBER_RSHIFT,
    TAPER_NUMBER_GCD,
    TAPER_NUMBER_TRUNCDIV // computes __round_to_zero_floordiv
} taper_number_code;

// Comparisons of numbers, strings, lists and devices.
typedef enum taper_compare_code {
    TAPER_COMPARE_EQ,
    TAPER_COMPARE_NE,
    TAPER_COMPARE_LT,
    TAPER_COMPARE_GT,
    TAPER_COMPARE_LE,
    TAPER_COMPARE_GE
} taper_compare_code;

// Operators on one number. The codes up to ATANH also accept complex numbers.
typedef enum taper_math_code {
    TAPER_MATH_EXP,
    TAPER_MATH_LOG,
    TAPER_MATH_LOG10,
    TAPER_MATH_SQRT,
    TAPER_MATH_SIN,
    TAPER_MATH_COS,
    TAPER_MATH_TAN,
    TAPER_MATH_SINH,
    TAPER_MATH_COSH,
    TAPER_MATH_TANH,
    TAPER_MATH_ASIN,
    TAPER_MATH_ACOS,
    TAPER_MATH_ATAN,
    TAPER_MATH_ASINH,
    TAPER_MATH_ACOSH,
    TAPER_MATH_ATANH,
    TAPER_MATH_EXPM1,
    TAPER_MATH_LOG1P,
    TAPER_MATH_ERF,
    TAPER_MATH_ERFC,
    TAPER_MATH_GAMMA,
    TAPER_MATH_LGAMMA,
    TAPER_MATH_FABS,
    TAPER_MATH_DEGREES,
    TAPER_MATH_RADIANS,
    TAPER_MATH_ROUND,
    TAPER_MATH_FLOOR,
    TAPER_MATH_CEIL,
    TAPER_MATH_NEG,
    TAPER_MATH_ABS,
    TAPER_MATH_ANGLE,
    TAPER_MATH_ISNAN,
    TAPER_MATH_ISINF,
    TAPER_MATH_ISFINITE
} taper_math_code;

typedef struct taper_pair { // a complex number as a C value
    double re, im;
} taper_pair;

taper_pair taper_pair_mul(taper_pair a, taper_pair b);
taper_pair taper_pair_div(taper_pair a, taper_pair b);
taper_pair taper_pair_pow(taper_pair a, taper_pair b);
taper_pair taper_pair_math(taper_math_code code, taper_pair z); // accepts only codes up to ATANH
taper_status taper_ret_complex(taper_call *call, size_t at, taper_pair z);

// Converts to int64_t as x86's conversion instruction does: NaN and numbers out of range give INT64_MIN.
int64_t taper_double_to_int(double number);
// Reads the only element of a tensor, dequantized. Fails for any other number of elements. *number owns a reference if
// it is complex.
TAPER_MUST_USE taper_status taper_tensor_number(taper_run *run, const taper_tensor *tensor, taper_val *number);
// Converts a scalar to a value; *value owns a reference if it is complex.
TAPER_MUST_USE taper_status taper_scalar_value(taper_run *run, const taper_scalar *scalar, taper_val *value);

#endif
