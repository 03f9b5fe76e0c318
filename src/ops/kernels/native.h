// SPDX-License-Identifier: BSD-2-Clause
// Elementwise arithmetic in the tensors' own dtype: integers of every width, bools, complex numbers in single
// precision, doubles, and operators on floats that vector_f32.h lacks. The operators' own loops (ops/math), which
// compute in the widest type of a class of dtypes, give the same results, except for the rounding of complex numbers.
//
// The loops are plain C that the compiler vectorizes, once for each instruction set. n is a multiple of
// TAPER_NATIVE_STEP, so that loops have no remaining elements. Only the elements that the arguments name are read or
// written. The result may be one of the inputs, but must not overlap an input partly. All three inputs are pointers to
// readable memory, also for operators with fewer operands.
#ifndef TAPER_KERNELS_NATIVE_H
#define TAPER_KERNELS_NATIVE_H

#include <stdbool.h>

#include "ops/kernels/arch.h"

enum { TAPER_NATIVE_STEP = 64 };

// The types of operands. `where` moves bits, and uses the integer type of the elements' width.
typedef enum taper_native_type {
    TAPER_NATIVE_U8,
    TAPER_NATIVE_I8,
    TAPER_NATIVE_I16,
    TAPER_NATIVE_I32,
    TAPER_NATIVE_I64,
    TAPER_NATIVE_BOOL,
    TAPER_NATIVE_F32,
    TAPER_NATIVE_F64,
    TAPER_NATIVE_C64,
    TAPER_NATIVE_TYPES
} taper_native_type;

typedef struct taper_native_pair {
    float re, im;
} taper_native_pair;

// The numbers that an operator takes in addition to its operands.
typedef struct taper_native_numbers {
    double f[3];
    int64_t i[2];
} taper_native_numbers;

// NATIVE(operator, type, T, W, result, value): `value` is computed from x, y and z, of type T, and from the numbers p.
// W is the unsigned integer in which products and sums wrap. The result has the type T (SAME), a byte (TRUTH) or a
// float (REAL).
// clang-format off: a table
#define TAPER_NATIVE_INTS(NATIVE, name, result, value)                                                                 \
    NATIVE(name, U8, uint8_t, uint32_t, result, value)                                                                 \
    NATIVE(name, I8, int8_t, uint32_t, result, value)                                                                  \
    NATIVE(name, I16, int16_t, uint32_t, result, value)                                                                \
    NATIVE(name, I32, int32_t, uint32_t, result, value)                                                                \
    NATIVE(name, I64, int64_t, uint64_t, result, value)
#define TAPER_NATIVE_FLOAT(NATIVE, name, result, value) NATIVE(name, F32, float, uint32_t, result, value)
#define TAPER_NATIVE_DOUBLE(NATIVE, name, value) NATIVE(name, F64, double, uint64_t, SAME, value)
#define TAPER_NATIVE_PAIR(NATIVE, name, result, re, im)                                                                \
    NATIVE(name, C64, taper_native_pair, uint32_t, result, ((taper_native_pair){re, im}))
#define TAPER_NATIVES(NATIVE)                                                                                          \
    TAPER_NATIVE_INTS(NATIVE, ADD, SAME, (T)((W)x + (W)y))                                                             \
    TAPER_NATIVE_INTS(NATIVE, SUB, SAME, (T)((W)x - (W)y))                                                             \
    TAPER_NATIVE_INTS(NATIVE, MUL, SAME, (T)((W)x * (W)y))                                                             \
    TAPER_NATIVE_INTS(NATIVE, MAXIMUM, SAME, x > y ? x : y)                                                            \
    TAPER_NATIVE_INTS(NATIVE, MINIMUM, SAME, x < y ? x : y)                                                            \
    TAPER_NATIVE_INTS(NATIVE, AND, SAME, (T)(x & y))                                                                   \
    TAPER_NATIVE_INTS(NATIVE, OR, SAME, (T)(x | y))                                                                    \
    TAPER_NATIVE_INTS(NATIVE, XOR, SAME, (T)(x ^ y))                                                                   \
    TAPER_NATIVE_INTS(NATIVE, NOT, SAME, (T)~x)                                                                        \
    TAPER_NATIVE_INTS(NATIVE, NEG, SAME, (T)((W)0 - (W)x))                                                             \
    TAPER_NATIVE_INTS(NATIVE, ABS, SAME, (T)(TAPER_NATIVE_NEGATIVE(x, W) ? (W)0 - (W)x : (W)x))                        \
    TAPER_NATIVE_INTS(NATIVE, SHIFT_LEFT, SAME,                                                                        \
                      TAPER_NATIVE_IN_WORD(y, W) ? (T)((W)x << TAPER_NATIVE_BITS(y, W)) : (T)0)                        \
    TAPER_NATIVE_INTS(NATIVE, SHIFT_RIGHT, SAME,                                                                       \
                      (T)(x >> (TAPER_NATIVE_IN_WORD(y, W) ? TAPER_NATIVE_BITS(y, W) : sizeof(W) * 8 - 1)))            \
    TAPER_NATIVE_INTS(NATIVE, CLAMP, SAME, x<low ? (low > high ? high : low) : x> high ? high : x)                     \
    TAPER_NATIVE_INTS(NATIVE, EQ, TRUTH, x == y)                                                                       \
    TAPER_NATIVE_INTS(NATIVE, NE, TRUTH, x != y)                                                                       \
    TAPER_NATIVE_INTS(NATIVE, LT, TRUTH, x < y)                                                                        \
    TAPER_NATIVE_INTS(NATIVE, LE, TRUTH, x <= y)                                                                       \
    NATIVE(EQ, BOOL, uint8_t, uint32_t, TRUTH, (x != 0) == (y != 0))                                                   \
    TAPER_NATIVE_FLOAT(NATIVE, CLAMP_TENSORS, SAME, taper_native_clamp(x, y, z))                                       \
    TAPER_NATIVE_FLOAT(NATIVE, ADDCMUL, SAME, x + f0 * y * z)                                                          \
    TAPER_NATIVE_FLOAT(NATIVE, ADDCDIV, SAME, x + f0 * y / z)                                                          \
    TAPER_NATIVE_FLOAT(NATIVE, LERP, SAME, z < 0.5f ? x + z * (y - x) : y - (y - x) * (1 - z))                         \
    TAPER_NATIVE_FLOAT(NATIVE, NEXTAFTER, SAME, taper_native_next(x, y))                                               \
    TAPER_NATIVE_FLOAT(NATIVE, MSE, SAME, (x - y) * (x - y))                                                           \
    TAPER_NATIVE_FLOAT(NATIVE, SMOOTH_L1, SAME,                                                                        \
                       fabsf(x - y) < f0 ? 0.5f * fabsf(x - y) * fabsf(x - y) / f0 : fabsf(x - y) - 0.5f * f0)         \
    TAPER_NATIVE_FLOAT(NATIVE, HUBER, SAME,                                                                            \
                       fabsf(x - y) <= f0 ? 0.5f * fabsf(x - y) * fabsf(x - y) : f0 * (fabsf(x - y) - 0.5f * f0))      \
    TAPER_NATIVE_FLOAT(NATIVE, BCE, SAME, taper_native_entropy(x, y) * z)                                              \
    TAPER_NATIVE_FLOAT(NATIVE, BCE_LOGITS, SAME, ((1 - y) * x + taper_native_softplus(x)) * z)                         \
    TAPER_NATIVE_FLOAT(NATIVE, KL_DIV, SAME, v_xlogy(y, y) - y * x)                                                    \
    TAPER_NATIVE_FLOAT(NATIVE, KL_DIV_LOG, SAME, v_exp(y) * (y - x))                                                   \
    TAPER_NATIVE_FLOAT(NATIVE, SOFT_MARGIN, SAME, v_log1p(v_exp(-x *y)))                                               \
    TAPER_NATIVE_FLOAT(NATIVE, HINGE, SAME, (y != 1 ? (f0 - x < 0 ? 0 : f0 - x) : 0) + (y != -1 ? x : 0))              \
    TAPER_NATIVE_FLOAT(NATIVE, POISSON, SAME, x - y * v_log(x + f0))                                                   \
    TAPER_NATIVE_FLOAT(NATIVE, POISSON_LOG, SAME, v_exp(x) - y * x)                                                    \
    TAPER_NATIVE_FLOAT(NATIVE, SOFTSHRINK, SAME, x > f0 ? x - f0 : x < -f0 ? x + f0 : 0)                               \
    TAPER_NATIVE_FLOAT(NATIVE, HARDSHRINK, SAME, ((x >= -f0) & (x <= f0)) ? 0 : x)                                     \
    TAPER_NATIVE_FLOAT(NATIVE, THRESHOLD, SAME, x <= f0 ? f1 : x)                                                      \
    TAPER_NATIVE_FLOAT(NATIVE, HYPOT, SAME, taper_native_hypot(x, y))                                                  \
    TAPER_NATIVE_FLOAT(NATIVE, ATANH, SAME, taper_native_atanh(x))                                                     \
    TAPER_NATIVE_FLOAT(NATIVE, I0, SAME, (float)(s_i0e(fabs((double)x)) * d_exp(fabs((double)x))))                     \
    TAPER_NATIVE_FLOAT(NATIVE, I0E, SAME, (float)s_i0e(fabs((double)x)))                                               \
    TAPER_NATIVE_FLOAT(NATIVE, I1, SAME, (float)d_sign(s_i1e(fabs((double)x)) * d_exp(fabs((double)x)), (double)x))    \
    TAPER_NATIVE_FLOAT(NATIVE, I1E, SAME, (float)d_sign(s_i1e(fabs((double)x)), (double)x))                            \
    TAPER_NATIVE_FLOAT(NATIVE, NDTR, SAME, (float)s_ndtr((double)x))                                                   \
    TAPER_NATIVE_FLOAT(NATIVE, NDTRI, SAME, (float)s_ndtri((double)x))                                                 \
    TAPER_NATIVE_FLOAT(NATIVE, DIGAMMA, SAME, (float)s_digamma((double)x))                                             \
    TAPER_NATIVE_FLOAT(NATIVE, LGAMMA, SAME, (float)s_lgamma((double)x))                                               \
    TAPER_NATIVE_DOUBLE(NATIVE, ADD, x + y)                                                                            \
    TAPER_NATIVE_DOUBLE(NATIVE, SUB, x - y)                                                                            \
    TAPER_NATIVE_DOUBLE(NATIVE, MUL, x *y)                                                                             \
    TAPER_NATIVE_DOUBLE(NATIVE, DIV, x / y)                                                                            \
    TAPER_NATIVE_DOUBLE(NATIVE, AFFINE, D_FMA(x - d0, d1, d2))                                                         \
    TAPER_NATIVE_DOUBLE(NATIVE, NORMALIZE, D_FMA((x - d0) * d1, y, z))                                                 \
    TAPER_NATIVE_DOUBLE(NATIVE, EXP, d_exp(x))                                                                         \
    TAPER_NATIVE_DOUBLE(NATIVE, EXPM1, d_expm1(x))                                                                     \
    TAPER_NATIVE_DOUBLE(NATIVE, LOG, d_log(x))                                                                         \
    TAPER_NATIVE_DOUBLE(NATIVE, LOG1P, d_log1p(x))                                                                     \
    TAPER_NATIVE_DOUBLE(NATIVE, TANH, d_tanh(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, SIGMOID, d_sigmoid(x))                                                                 \
    TAPER_NATIVE_DOUBLE(NATIVE, SILU, x *d_sigmoid(x))                                                                 \
    TAPER_NATIVE_DOUBLE(NATIVE, SQRT, sqrt(x))                                                                         \
    TAPER_NATIVE_DOUBLE(NATIVE, RSQRT, 1 / sqrt(x))                                                                    \
    TAPER_NATIVE_DOUBLE(NATIVE, RECIPROCAL, 1 / x)                                                                     \
    TAPER_NATIVE_DOUBLE(NATIVE, FLOOR, floor(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, CEIL, ceil(x))                                                                         \
    TAPER_NATIVE_DOUBLE(NATIVE, TRUNC, trunc(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, ROUND, nearbyint(x))                                                                   \
    TAPER_NATIVE_DOUBLE(NATIVE, ATAN, d_atan(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, ASIN, d_asin(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, ACOS, d_acos(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, ATAN2, d_atan2(x, y))                                                                  \
    TAPER_NATIVE_DOUBLE(NATIVE, SINH, d_sinh(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, COSH, d_cosh(x))                                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, ELU, d_elu(x, d0, d1, d2))                                                             \
    TAPER_NATIVE_DOUBLE(NATIVE, SOFTPLUS, d_softplus(x, d0, d1))                                                       \
    TAPER_NATIVE_DOUBLE(NATIVE, LOG_SIGMOID, d_log_sigmoid(x))                                                         \
    TAPER_NATIVE_DOUBLE(NATIVE, GELU_TANH, d_gelu_tanh(x))                                                             \
    TAPER_NATIVE_DOUBLE(NATIVE, MISH, d_mish(x))                                                                       \
    TAPER_NATIVE_PAIR(NATIVE, ADD, SAME, x.re + y.re, x.im + y.im)                                                     \
    TAPER_NATIVE_PAIR(NATIVE, SUB, SAME, x.re - y.re, x.im - y.im)                                                     \
    TAPER_NATIVE_PAIR(NATIVE, MUL, SAME, x.re *y.re - x.im * y.im, x.re * y.im + x.im * y.re)                          \
    TAPER_NATIVE_PAIR(NATIVE, NEG, SAME, -x.re, -x.im)                                                                 \
    TAPER_NATIVE_PAIR(NATIVE, CONJ, SAME, x.re, -x.im)                                                                 \
    TAPER_NATIVE_PAIR(NATIVE, COMPLEX, SAME, x.re, y.re)                                                               \
    NATIVE(ABS, C64, taper_native_pair, uint32_t, REAL, taper_native_hypot(x.re, x.im))                                \
    NATIVE(ANGLE, C64, taper_native_pair, uint32_t, REAL, v_atan2(x.im, x.re))

// Quotients and remainders that round to zero or down. Integers of up to 16 bits are divided as floats, wider integers
// as doubles. DIVISION(operator, type, T, W, R, value): `value` is computed from x, y, the quotient q and the remainder
// r, which are signed.
#define TAPER_NATIVE_DIVIDED(DIVISION, name, value)                                                                    \
    DIVISION(name, U8, uint8_t, uint32_t, float, value)                                                                \
    DIVISION(name, I8, int8_t, uint32_t, float, value)                                                                 \
    DIVISION(name, I16, int16_t, uint32_t, float, value)                                                               \
    DIVISION(name, I32, int32_t, uint32_t, double, value)                                                              \
    DIVISION(name, I64, int64_t, uint64_t, double, value)
#define TAPER_NATIVE_DIVISIONS(DIVISION)                                                                               \
    TAPER_NATIVE_DIVIDED(DIVISION, DIV_TRUNC, (T)q)                                                                    \
    TAPER_NATIVE_DIVIDED(DIVISION, DIV_FLOOR, (T)((W)q - (W)((r != 0) & ((r < 0) != (y < 0)))))                        \
    TAPER_NATIVE_DIVIDED(DIVISION, FMOD, (T)r)                                                                         \
    TAPER_NATIVE_DIVIDED(DIVISION, REMAINDER, (T)((W)r + (((r != 0) & ((r < 0) != (y < 0))) ? (W)y : 0)))

// Operators with two formulas: a fast formula, which is exact enough only for operands in a certain range, and a slow
// formula for all operands. For complex numbers the slow formula uses doubles, because the fast formula would overflow
// or be inexact. STEPWISE(operator, type, T, fits, fast, slow): `fits` is the condition that x and y are in the range
// of the fast formula. The kernel computes TAPER_NATIVE_STEP elements at a time, with the fast formula if `fits` is
// true for each of these elements. For doubles, the slow formula computes operands in the range as the fast formula
// does, so a result does not depend on the elements beside it.
#define TAPER_NATIVE_STEPWISE(STEPWISE)                                                                                \
    STEPWISE(DIV, C64, taper_native_pair, taper_native_fits(x, true) & taper_native_fits(y, false),                    \
             taper_native_quotient(x, y), taper_native_wide_quotient(x, y))                                            \
    STEPWISE(POLAR, C64, taper_native_pair, fabsf(y.re) < 8192.0f, taper_native_polar(x.re, y.re),                     \
             taper_native_wide_polar((double)x.re, (double)y.re))                                                      \
    STEPWISE(EXP, C64, taper_native_pair, (fabsf(x.re) < 80.0f) & (fabsf(x.im) < 8192.0f),                             \
             taper_native_polar(v_exp(x.re), x.im), taper_native_wide_polar(exp((double)x.re), (double)x.im))          \
    STEPWISE(TRIGAMMA, F32, float, !(fabsf(x) > 8192.0f) | (x > 0), s_trigamma(x, s_sine(x)),                          \
             s_trigamma(x, sinf((float)S_PI * x)))                                                                     \
    STEPWISE(SIN, F64, double, d_sine_fits(x), d_sine(x, 0), d_sine_fits(x) != 0 ? d_sine(x, 0) : sin(x))              \
    STEPWISE(COS, F64, double, d_sine_fits(x), d_sine(x, 1), d_sine_fits(x) != 0 ? d_sine(x, 1) : cos(x))              \
    STEPWISE(TAN, F64, double, d_sine_fits(x), d_tan(x), d_sine_fits(x) != 0 ? d_tan(x) : tan(x))                      \
    STEPWISE(HYPOT, F64, double, d_square_fits(x) & d_square_fits(y), sqrt(x * x + y * y),                             \
             (d_square_fits(x) & d_square_fits(y)) != 0 ? sqrt(x * x + y * y) : hypot(x, y))                           \
    STEPWISE(FMOD, F64, double, d_fmod_fits(x, y), d_fmod(x, y), fmod(x, y))                                           \
    STEPWISE(REMAINDER, F64, double, d_fmod_fits(x, y), d_remainder(d_fmod(x, y), y), d_remainder(fmod(x, y), y))      \
    STEPWISE(DIV_FLOOR, F64, double, d_fmod_fits(x, y), d_floor_quotient(x, y, d_fmod(x, y)),                          \
             d_floor_quotient(x, y, fmod(x, y)))                                                                       \
    STEPWISE(POW, F64, double, d_power_fits(x, y), d_power(x, y), d_power_fits(x, y) != 0 ? d_power(x, y) : pow(x, y))

// The rows WHERE(type, T) compute x != 0 ? y : z.
#define TAPER_NATIVE_WHERES(WHERE)                                                                                     \
    WHERE(U8, uint8_t)                                                                                                 \
    WHERE(I16, uint16_t)                                                                                               \
    WHERE(I32, uint32_t)                                                                                               \
    WHERE(I64, uint64_t)
// clang-format on

typedef enum taper_native {
    TAPER_NATIVE_ADD,
    TAPER_NATIVE_SUB,
    TAPER_NATIVE_MUL,
    TAPER_NATIVE_MAXIMUM,
    TAPER_NATIVE_MINIMUM,
    TAPER_NATIVE_AND,
    TAPER_NATIVE_OR,
    TAPER_NATIVE_XOR,
    TAPER_NATIVE_NOT,
    TAPER_NATIVE_NEG,
    TAPER_NATIVE_ABS,
    TAPER_NATIVE_SHIFT_LEFT,
    TAPER_NATIVE_SHIFT_RIGHT,
    TAPER_NATIVE_CLAMP,
    TAPER_NATIVE_EQ,
    TAPER_NATIVE_NE,
    TAPER_NATIVE_LT,
    TAPER_NATIVE_LE,
    TAPER_NATIVE_DIV_TRUNC,
    TAPER_NATIVE_DIV_FLOOR,
    TAPER_NATIVE_FMOD,
    TAPER_NATIVE_REMAINDER,
    TAPER_NATIVE_WHERE,
    TAPER_NATIVE_CLAMP_TENSORS,
    TAPER_NATIVE_ADDCMUL,
    TAPER_NATIVE_ADDCDIV,
    TAPER_NATIVE_LERP,
    TAPER_NATIVE_NEXTAFTER,
    TAPER_NATIVE_HYPOT,
    TAPER_NATIVE_SOFTSHRINK,
    TAPER_NATIVE_HARDSHRINK,
    TAPER_NATIVE_THRESHOLD,
    TAPER_NATIVE_MSE, // the first of the losses (ops/nn/loss.c)
    TAPER_NATIVE_SMOOTH_L1,
    TAPER_NATIVE_HUBER,
    TAPER_NATIVE_BCE,
    TAPER_NATIVE_BCE_LOGITS,
    TAPER_NATIVE_KL_DIV,
    TAPER_NATIVE_KL_DIV_LOG,
    TAPER_NATIVE_SOFT_MARGIN,
    TAPER_NATIVE_HINGE,
    TAPER_NATIVE_POISSON,
    TAPER_NATIVE_POISSON_LOG,
    TAPER_NATIVE_CONJ,
    TAPER_NATIVE_COMPLEX,
    TAPER_NATIVE_ANGLE,
    TAPER_NATIVE_DIV,
    TAPER_NATIVE_POLAR,
    TAPER_NATIVE_EXP,
    TAPER_NATIVE_EXPM1,
    TAPER_NATIVE_LOG,
    TAPER_NATIVE_LOG1P,
    TAPER_NATIVE_TANH,
    TAPER_NATIVE_SIGMOID,
    TAPER_NATIVE_SILU,
    TAPER_NATIVE_SIN,
    TAPER_NATIVE_COS,
    TAPER_NATIVE_TAN,
    TAPER_NATIVE_POW,
    TAPER_NATIVE_SQRT,
    TAPER_NATIVE_RSQRT,
    TAPER_NATIVE_RECIPROCAL,
    TAPER_NATIVE_FLOOR,
    TAPER_NATIVE_CEIL,
    TAPER_NATIVE_TRUNC,
    TAPER_NATIVE_ROUND,
    TAPER_NATIVE_ATAN,
    TAPER_NATIVE_ASIN,
    TAPER_NATIVE_ACOS,
    TAPER_NATIVE_ATAN2,
    TAPER_NATIVE_SINH,
    TAPER_NATIVE_COSH,
    TAPER_NATIVE_ELU,
    TAPER_NATIVE_SOFTPLUS,
    TAPER_NATIVE_LOG_SIGMOID,
    TAPER_NATIVE_MISH,
    TAPER_NATIVE_GELU_TANH,
    TAPER_NATIVE_ATANH,
    TAPER_NATIVE_I0,
    TAPER_NATIVE_I0E,
    TAPER_NATIVE_I1,
    TAPER_NATIVE_I1E,
    TAPER_NATIVE_NDTR,
    TAPER_NATIVE_NDTRI,
    TAPER_NATIVE_DIGAMMA,
    TAPER_NATIVE_LGAMMA,
    TAPER_NATIVE_TRIGAMMA,
    TAPER_NATIVE_AFFINE,    // computes (x - f[0]) * f[1] + f[2]
    TAPER_NATIVE_NORMALIZE, // computes (x - f[0]) * f[1] * y + z
    TAPER_NATIVE_COUNT
} taper_native;

// Returns true if a divisor was zero; the element of the result at the same index is then undefined.
typedef bool taper_native_function(size_t n, const void *const *in, void *out, const taper_native_numbers *p);

// Arithmetic on lines of doubles, for operands that are broadcast. An operand moves by `step`, 0 or 1, from one element
// to the next, and by `line` from one line to the next, both in elements. n may be any number.
typedef struct taper_line_operand {
    const double *data;
    int64_t step, line;
} taper_line_operand;
typedef void taper_lines_f64(size_t lines, size_t n, const taper_line_operand *a, const taper_line_operand *b,
                             double *out, int64_t out_line);
enum { TAPER_LINES_ADD, TAPER_LINES_SUB, TAPER_LINES_MUL, TAPER_LINES_DIV, TAPER_LINES_COUNT };

// Reductions that vector_f32.h lacks. FOLD(reduction, type, T, A, start value, joined, merged): `joined` adds an
// element x of type T to an accumulator `a` of type A; `merged` adds an accumulator x to `a`. An accumulator that is
// NaN stays NaN.
typedef enum taper_native_fold {
    TAPER_FOLD_SUM,
    TAPER_FOLD_NANSUM, // sum in which a NaN counts as 0
    TAPER_FOLD_PRODUCT,
    TAPER_FOLD_MOST,
    TAPER_FOLD_LEAST,
    TAPER_FOLD_ANY, // ANY: 1 if any element is nonzero, otherwise 0. EVERY: 1 if all elements are nonzero, otherwise 0.
    TAPER_FOLD_EVERY,
    TAPER_FOLD_NONZERO, // number of nonzero elements
    TAPER_FOLD_COUNT,
    TAPER_FOLD_NONE = TAPER_FOLD_COUNT
} taper_native_fold;
typedef enum taper_fold_type {
    TAPER_FOLD_F32, // sum of floats, accumulated as doubles
    TAPER_FOLD_F64,
    TAPER_FOLD_I64,
    TAPER_FOLD_I32, // elements are int32, accumulated as int64; U8: uint8, accumulated as int64
    TAPER_FOLD_U8,
    TAPER_FOLD_C64, // elements are pairs of floats, accumulated as pairs of doubles
    TAPER_FOLD_TYPES
} taper_fold_type;

// clang-format off: a table
#define TAPER_FOLD_INTS(FOLD, name, start, joined, merged)                                                             \
    FOLD(name, I64, int64_t, int64_t, start, joined, merged)                                                           \
    FOLD(name, I32, int32_t, int64_t, start, joined, merged)                                                           \
    FOLD(name, U8, uint8_t, int64_t, start, joined, merged)
#define TAPER_NATIVE_FOLDS(FOLD)                                                                                       \
    FOLD(SUM, F32, float, double, 0, a + x, a + x)                                                                     \
    FOLD(SUM, F64, double, double, 0, a + x, a + x)                                                                    \
    TAPER_FOLD_INTS(FOLD, SUM, 0, (int64_t)((uint64_t)a + (uint64_t)x), (int64_t)((uint64_t)a + (uint64_t)x))          \
    FOLD(NANSUM, F64, double, double, 0, a + (x == x ? x : 0), a + x)                                                  \
    FOLD(PRODUCT, F64, double, double, 1, a *x, a *x)                                                                  \
    FOLD(PRODUCT, I64, int64_t, int64_t, 1, (int64_t)((uint64_t)a * (uint64_t)x),                                      \
         (int64_t)((uint64_t)a * (uint64_t)x))                                                                         \
    FOLD(MOST, F64, double, double, -INFINITY, ((x > a) | (x != x)) ? x : a, ((x > a) | (x != x)) ? x : a)             \
    TAPER_FOLD_INTS(FOLD, MOST, INT64_MIN, x > a ? x : a, x > a ? x : a)                                               \
    FOLD(LEAST, F64, double, double, INFINITY, ((x < a) | (x != x)) ? x : a, ((x < a) | (x != x)) ? x : a)             \
    TAPER_FOLD_INTS(FOLD, LEAST, INT64_MAX, x < a ? x : a, x < a ? x : a)                                              \
    FOLD(ANY, F32, float, double, 0, x != 0 ? 1 : a, x != 0 ? 1 : a)                                                   \
    TAPER_FOLD_INTS(FOLD, ANY, 0, a | (x != 0), a | x)                                                                 \
    FOLD(EVERY, F32, float, double, 1, x != 0 ? a : 0, x != 0 ? a : 0)                                                 \
    TAPER_FOLD_INTS(FOLD, EVERY, 1, a &(x != 0), a &x)                                                                 \
    FOLD(NONZERO, F32, float, double, 0, a + (x != 0), a + x)                                                          \
    TAPER_FOLD_INTS(FOLD, NONZERO, 0, a + (x != 0), a + x)
// clang-format on

// A line function adds n elements to one accumulator. A rows function adds `rows` rows of n elements, which are
// `stride` elements apart, to n accumulators.
typedef void taper_fold_line(size_t n, const void *x, void *acc);
typedef void taper_fold_rows(size_t rows, size_t n, const void *x, size_t stride, void *acc);
typedef struct taper_native_folder {
    taper_fold_line *line; // function for contiguous elements, or NULL
    taper_fold_rows *rows;
} taper_native_folder;

// Finds the extreme of each of n columns over rows, which are `stride` elements apart, and the number of the extreme's
// row. If several elements are equal, the result is the first of their rows. The first NaN wins over every number.
typedef void taper_pick_rows(size_t rows, size_t n, const float *x, size_t stride, bool least, float *best,
                             int32_t *where);

// Finds the maximum of each of n channels over `places` pixels, and the item of `at` for the first pixel with this
// maximum. The last NaN wins over every number. If no element of a channel is above -inf, `first` replaces the item.
typedef void taper_window_f32(size_t places, size_t n, const float *const *x, const int32_t *at, int32_t first,
                              float *most, int64_t *where);
// Returns the sum of (x - mean)².
typedef double taper_deviations_f64(size_t n, const double *x, double mean);

// Computes the sum of bytes and the sum of their squares, after the bits of `flip` are inverted in each byte.
typedef void taper_moments_u8(size_t n, const uint8_t *x, uint8_t flip, uint64_t *sum, uint64_t *squares);
// The parameters of a normalization of bytes: y = rne(clamp(fma((x - x_point - mean) * step, weight, bias) * inverse))
// + point. rne rounds to the nearest integer, and a half to the even one. NaN counts as too large. weight and bias have
// n floats, or one if stride is 0.
typedef struct taper_norm_numbers {
    float x_point, mean, step;
    float inverse, low, high; // low and high are integers that become bytes when point is added
    int32_t point;
    uint8_t flip; // bits that are inverted in x and y: 0x80 for signed bytes, whose zero points are then 128 more
} taper_norm_numbers;
typedef void taper_norm_u8(size_t n, const uint8_t *x, const float *weight, const float *bias, size_t stride,
                           const taper_norm_numbers *p, uint8_t *y);

// Computes rows of a product with a panel: c[r][j] is the sum over p < k of a[r][p] * panel[p * 8 + j], for at most
// TAPER_BLOCK_COLUMNS (eight) columns j. The panel has eight columns even if fewer are written. The steps of `a` are in
// elements and may be any numbers. The elements of a row of c are contiguous. If `add` is true, the sums are added to
// c.
enum { TAPER_BLOCK_COLUMNS = 8 };
typedef void taper_block_f32(size_t rows, size_t columns, size_t k, const float *a, int64_t a_row, int64_t a_column,
                             const float *panel, float *c, int64_t c_row, bool add);
typedef void taper_block_f64(size_t rows, size_t columns, size_t k, const double *a, int64_t a_row, int64_t a_column,
                             const double *panel, double *c, int64_t c_row, bool add);

// Computes a tile of a product: sums[r][c] of TAPER_TILE_ROWS (4) rows by TAPER_TILE_COLUMNS (8) columns is the sum
// over p < k of a[p * 4 + r] * b[p * 8 + c].
enum { TAPER_TILE_ROWS = 4, TAPER_TILE_COLUMNS = 8 };
typedef void taper_tile_u64(const uint64_t *a, const uint64_t *b, int64_t k, uint64_t *sums);

typedef struct taper_native_entry {
    const char *name;
    uint64_t cpu;
    taper_block_f32 *block_f32;
    taper_block_f64 *block_f64;
    taper_lines_f64 *lines_f64[TAPER_LINES_COUNT];
    taper_tile_u64 *tile_u64;
    taper_pick_rows *pick_f32;
    taper_window_f32 *window_f32;
    taper_deviations_f64 *deviations_f64;
    taper_moments_u8 *moments_u8;
    taper_norm_u8 *norm_u8;
    taper_native_folder folds[TAPER_FOLD_COUNT][TAPER_FOLD_TYPES];
    taper_native_function *functions[TAPER_NATIVE_COUNT][TAPER_NATIVE_TYPES];
} taper_native_entry;

#define KERNEL(isa) extern const taper_native_entry taper_native_##isa;
#include "ops/kernels/native_list.inc"
#undef KERNEL

#endif
