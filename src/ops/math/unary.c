// SPDX-License-Identifier: BSD-2-Clause
// Operators with one operand: makes the loops and records from elementwise_unary.inc.
#include "ops/engine/elementwise_loops.h"
#include "ops/math/elementwise_ops.h"

#define CLAMP6(v) ((v) < 0 ? 0 : (v) > 6 ? 6 : (v))
#define LOGIT_CLAMP(v, eps) ((eps) < 0 ? (v) : (v) < (eps) ? (eps) : (v) > 1 - (eps) ? 1 - (eps) : (v))
#define FREXP_EXPONENT(v) frexp_exponent((double)(v))

static int frexp_exponent(double x)
{
    int exponent = 0;
    (void)frexp(x, &exponent);
    return isfinite(x) ? exponent : 0;
}

#define OUT_SAME T
#define OUT_BOOL uint8_t

// Loops for float and double: the list is included once for each type.
#define UNARY_F(name, promotion, result, scalars, f)                                                                   \
    TAPER_EW_LOOP1(LOOP(name), OUT_##result, T, TAPER_EW_NUMBERS_F(T), f)
#define UNARY_FI(name, promotion, result, scalars, f, i) UNARY_F(name, promotion, result, scalars, f)
#define UNARY_FC(name, promotion, result, scalars, f, c) UNARY_F(name, promotion, result, scalars, f)
#define UNARY_FIC(name, promotion, result, scalars, f, i, c) UNARY_F(name, promotion, result, scalars, f)
#define OUT_REAL T
#define T float
#define F(function) function##f
#define LOOP(name) name##_f32
#include "ops/math/elementwise_unary.inc"
#undef T
#undef F
#undef LOOP
#define T double
#define F(function) function
#define LOOP(name) name##_f64
#include "ops/math/elementwise_unary.inc"
#undef T
#undef UNARY_F
#undef UNARY_FI
#undef UNARY_FC
#undef UNARY_FIC

// Loops for integers.
#define T int64_t
#define UNARY_F(name, promotion, result, scalars, f)
#define UNARY_FI(name, promotion, result, scalars, f, i)                                                               \
    TAPER_EW_LOOP1(name##_i64, OUT_##result, T, TAPER_EW_NUMBERS_I, i)
#define UNARY_FC(name, promotion, result, scalars, f, c)
#define UNARY_FIC(name, promotion, result, scalars, f, i, c) UNARY_FI(name, promotion, result, scalars, f, i)
#include "ops/math/elementwise_unary.inc"
#undef T
#undef OUT_REAL
#undef UNARY_FI
#undef UNARY_FC
#undef UNARY_FIC

// Loops for complex numbers.
#define T taper_c128
#define OUT_REAL double
#define UNARY_FI(name, promotion, result, scalars, f, i)
#define UNARY_FC(name, promotion, result, scalars, f, c)                                                               \
    TAPER_EW_LOOP1(name##_c128, OUT_##result, T, TAPER_EW_NUMBERS_C, c)
#define UNARY_FIC(name, promotion, result, scalars, f, i, c) UNARY_FC(name, promotion, result, scalars, f, c)
#include "ops/math/elementwise_unary.inc"
#undef T
#undef UNARY_F
#undef UNARY_FI
#undef UNARY_FC
#undef UNARY_FIC

TAPER_EW_LOOP1(logical_not_u8, uint8_t, uint8_t, (void)args;, x == 0)

// Defines the record of each operator, a taper_ew_op.
#define UNARY_F(name, promotion, result, scalars, f)                                                                   \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64)
#define UNARY_FI(name, promotion, result, scalars, f, i)                                                               \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64, name##_i64)
#define UNARY_FC(name, promotion, result, scalars, f, c)                                                               \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64, NULL, NULL, name##_c128)
#define UNARY_FIC(name, promotion, result, scalars, f, i, c)                                                           \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64, name##_i64, TAPER_EW_BOOL(name),         \
                    name##_c128)
#include "ops/math/elementwise_unary.inc"

// Loops of bitwise_not, the only operator whose result for bool (the logical not) differs in kind from its result for
// integers.
TAPER_EW_LOOP1(bitwise_not_i64, int64_t, int64_t, (void)args;, ~x)
TAPER_EW_LOOP1(bitwise_not_u8, uint8_t, uint8_t, (void)args;, x == 0)
TAPER_EW_RECORD(bitwise_not, KEEP, SAME, 0, NULL, NULL, bitwise_not_i64, bitwise_not_u8)
