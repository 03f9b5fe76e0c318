// SPDX-License-Identifier: BSD-2-Clause
// Operators with two operands: makes the loops and records from elementwise_binary.inc.
#include "ops/engine/elementwise_loops.h"
#include "ops/math/elementwise_ops.h"

#define RELU(v) ((v) < 0 ? 0 : (v))
#define ISCLOSE_INT(a, b) ((a) == (b) || fabs((double)(a) - (double)(b)) <= args->f[1] + fabs(args->f[0] * (double)(b)))

#define OUT_SAME T
#define OUT_BOOL uint8_t

// Loops for float and double: the list is included once for each type.
#define BINARY_F(name, promotion, result, scalars, f)                                                                  \
    TAPER_EW_LOOP2(LOOP(name), OUT_##result, T, TAPER_EW_NUMBERS_F(T), f)
#define BINARY_I(name, promotion, result, scalars, i)
#define BINARY_FI(name, promotion, result, scalars, f, i) BINARY_F(name, promotion, result, scalars, f)
#define BINARY_FC(name, promotion, result, scalars, f, c) BINARY_F(name, promotion, result, scalars, f)
#define BINARY_FIC(name, promotion, result, scalars, f, i, c) BINARY_F(name, promotion, result, scalars, f)
#define T float
#define F(function) function##f
#define LOOP(name) name##_f32
#include "ops/math/elementwise_binary.inc"
#undef T
#undef F
#undef LOOP
#define T double
#define F(function) function
#define LOOP(name) name##_f64
#include "ops/math/elementwise_binary.inc"
#undef T
#undef BINARY_F
#undef BINARY_I
#undef BINARY_FI
#undef BINARY_FC
#undef BINARY_FIC

// Loops for integers.
#define T int64_t
#define BINARY_F(name, promotion, result, scalars, f)
#define BINARY_I(name, promotion, result, scalars, i) TAPER_EW_LOOP2(name##_i64, OUT_##result, T, TAPER_EW_NUMBERS_I, i)
#define BINARY_FI(name, promotion, result, scalars, f, i) BINARY_I(name, promotion, result, scalars, i)
#define BINARY_FC(name, promotion, result, scalars, f, c)
#define BINARY_FIC(name, promotion, result, scalars, f, i, c) BINARY_I(name, promotion, result, scalars, i)
#include "ops/math/elementwise_binary.inc"
#undef T
#undef BINARY_I
#undef BINARY_FI
#undef BINARY_FC
#undef BINARY_FIC

// Loops for complex numbers.
#define T taper_c128
#define BINARY_I(name, promotion, result, scalars, i)
#define BINARY_FI(name, promotion, result, scalars, f, i)
#define BINARY_FC(name, promotion, result, scalars, f, c)                                                              \
    TAPER_EW_LOOP2(name##_c128, OUT_##result, T, TAPER_EW_NUMBERS_C, c)
#define BINARY_FIC(name, promotion, result, scalars, f, i, c) BINARY_FC(name, promotion, result, scalars, f, c)
#include "ops/math/elementwise_binary.inc"
#undef T
#undef BINARY_F
#undef BINARY_I
#undef BINARY_FI
#undef BINARY_FC
#undef BINARY_FIC

// Loops for bool. A nonzero byte is true, whichever value it has.
TAPER_EW_LOOP2(bitwise_and_u8, uint8_t, uint8_t, (void)args;, (x != 0) & (y != 0))
TAPER_EW_LOOP2(bitwise_or_u8, uint8_t, uint8_t, (void)args;, (x | y) != 0)
TAPER_EW_LOOP2(bitwise_xor_u8, uint8_t, uint8_t, (void)args;, (x != 0) ^ (y != 0))

// Defines the record of each operator, a taper_ew_op.
#define BINARY_F(name, promotion, result, scalars, f)                                                                  \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64)
#define BINARY_I(name, promotion, result, scalars, i)                                                                  \
    TAPER_EW_RECORD(name, promotion, result, scalars, NULL, NULL, name##_i64, TAPER_EW_BOOL(name))
#define BINARY_FI(name, promotion, result, scalars, f, i)                                                              \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64, name##_i64)
#define BINARY_FC(name, promotion, result, scalars, f, c)                                                              \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64, NULL, NULL, name##_c128)
#define BINARY_FIC(name, promotion, result, scalars, f, i, c)                                                          \
    TAPER_EW_RECORD(name, promotion, result, scalars, name##_f32, name##_f64, name##_i64, TAPER_EW_BOOL(name),         \
                    name##_c128)
#include "ops/math/elementwise_binary.inc"
