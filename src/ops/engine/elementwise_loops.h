// SPDX-License-Identifier: BSD-2-Clause
// Defines one loop for each operator in a list. All loops use the same class of arithmetic. The including file defines
// T, the type of the class, and the types of the results: OUT_SAME, OUT_BOOL and OUT_REAL. Then it includes its list of
// operators, which uses the macros below.
#ifndef TAPER_OPS_ELEMENTWISE_LOOPS_H
#define TAPER_OPS_ELEMENTWISE_LOOPS_H

#include "ops/engine/elementwise_math.h"
#include "ops/kernels/native.h"
#include "ops/kernels/vector_f32.h"

#define TAPER_EW_NUMBERS_F(type)                                                                                       \
    const type p0 = (type)args->f[0], p1 = (type)args->f[1], p2 = (type)args->f[2];                                    \
    (void)p0, (void)p1, (void)p2;
#define TAPER_EW_NUMBERS_I                                                                                             \
    const int64_t p0 = args->i[0], p1 = args->i[1], p2 = args->i[2];                                                   \
    (void)p0, (void)p1, (void)p2;
#define TAPER_EW_NUMBERS_C                                                                                             \
    const taper_c128 p0 = args->c[0], p1 = args->c[1], p2 = args->c[2];                                                \
    (void)p0, (void)p1, (void)p2;

#define TAPER_EW_LOOP1(fn, out_type, type, numbers, expression)                                                        \
    static void fn(size_t n, void *out, const void *const *in, taper_ew_args *args)                                    \
    {                                                                                                                  \
        out_type *o = out;                                                                                             \
        const type *a = in[0];                                                                                         \
        numbers TAPER_EW_VECTOR for (size_t k = 0; k < n; k++)                                                         \
        {                                                                                                              \
            const type x = a[k];                                                                                       \
            o[k] = expression;                                                                                         \
        }                                                                                                              \
    }
#define TAPER_EW_LOOP2(fn, out_type, type, numbers, expression)                                                        \
    static void fn(size_t n, void *out, const void *const *in, taper_ew_args *args)                                    \
    {                                                                                                                  \
        out_type *o = out;                                                                                             \
        const type *a = in[0], *b = in[1];                                                                             \
        numbers TAPER_EW_VECTOR for (size_t k = 0; k < n; k++)                                                         \
        {                                                                                                              \
            const type x = a[k], y = b[k];                                                                             \
            o[k] = expression;                                                                                         \
        }                                                                                                              \
    }
#define TAPER_EW_LOOP3(fn, out_type, first_type, type, numbers, expression)                                            \
    static void fn(size_t n, void *out, const void *const *in, taper_ew_args *args)                                    \
    {                                                                                                                  \
        out_type *o = out;                                                                                             \
        const first_type *a = in[0];                                                                                   \
        const type *b = in[1], *c = in[2];                                                                             \
        numbers TAPER_EW_VECTOR for (size_t k = 0; k < n; k++)                                                         \
        {                                                                                                              \
            const first_type x = a[k];                                                                                 \
            const type y = b[k], z = c[k];                                                                             \
            o[k] = expression;                                                                                         \
        }                                                                                                              \
    }

#define TAPER_EW_PROMOTION_KEEP .promote = TAPER_EW_KEEP
#define TAPER_EW_PROMOTION_NOBOOL .promote = TAPER_EW_KEEP, .no_bool = true
#define TAPER_EW_PROMOTION_FLOAT .promote = TAPER_EW_FLOAT
// Charges the run for an element. `work` is the largest number of nanoseconds that an element takes. Evaluates to the
// element's value, or to 0 if the run must end.
#define TAPER_EW_SLOW(work, value) (args->run == NULL || taper_run_goes_on(args->run, (uint64_t)(work)) ? (value) : 0)

// Vector kernels (ops/kernels/vector_f32.h) by operator name. An operator's number (taper_ew_op.kernel) is 1 + the
// index of a unary kernel, TAPER_EW_KERNEL_RELU for relu, or TAPER_EW_KERNEL_BINARY + the index of a binary kernel.
// TAPER_EW_KERNEL(name) is 0 for every other operator.
enum {
    TAPER_EW_KERNEL_RELU = 1 + TAPER_UNARY_COUNT, // relu, a clamp with fixed bounds
    TAPER_EW_KERNEL_BINARY                        // number of the first binary kernel
};
#define TAPER_EW_KERNEL_OF_relu ~, TAPER_EW_KERNEL_RELU
#define TAPER_EW_KERNEL_OF_clamp_scalars ~, 1 + TAPER_UNARY_CLAMP
#define TAPER_EW_KERNEL_OF_hardtanh ~, 1 + TAPER_UNARY_CLAMP
#define TAPER_EW_KERNEL_OF_leaky_relu ~, 1 + TAPER_UNARY_LEAKY_RELU
#define TAPER_EW_KERNEL_OF_hardswish ~, 1 + TAPER_UNARY_HARDSWISH
#define TAPER_EW_KERNEL_OF_hardsigmoid ~, 1 + TAPER_UNARY_HARDSIGMOID
#define TAPER_EW_KERNEL_OF_sigmoid ~, 1 + TAPER_UNARY_SIGMOID
#define TAPER_EW_KERNEL_OF_silu ~, 1 + TAPER_UNARY_SILU
#define TAPER_EW_KERNEL_OF_tanh ~, 1 + TAPER_UNARY_TANH
#define TAPER_EW_KERNEL_OF_exp ~, 1 + TAPER_UNARY_EXP
#define TAPER_EW_KERNEL_OF_expm1 ~, 1 + TAPER_UNARY_EXPM1
#define TAPER_EW_KERNEL_OF_elu ~, 1 + TAPER_UNARY_ELU
#define TAPER_EW_KERNEL_OF_sqrt ~, 1 + TAPER_UNARY_SQRT
#define TAPER_EW_KERNEL_OF_squared ~, 1 + TAPER_UNARY_SQUARED
#define TAPER_EW_KERNEL_OF_abs ~, 1 + TAPER_UNARY_ABS
#define TAPER_EW_KERNEL_OF_gelu ~, 1 + TAPER_UNARY_GELU
#define TAPER_EW_KERNEL_OF_gelu_tanh ~, 1 + TAPER_UNARY_GELU_TANH
#define TAPER_EW_KERNEL_OF_erf ~, 1 + TAPER_UNARY_ERF
#define TAPER_EW_KERNEL_OF_neg ~, 1 + TAPER_UNARY_NEG
#define TAPER_EW_KERNEL_OF_log ~, 1 + TAPER_UNARY_LOG
#define TAPER_EW_KERNEL_OF_log1p ~, 1 + TAPER_UNARY_LOG1P
#define TAPER_EW_KERNEL_OF_sin ~, 1 + TAPER_UNARY_SIN
#define TAPER_EW_KERNEL_OF_cos ~, 1 + TAPER_UNARY_COS
#define TAPER_EW_KERNEL_OF_reciprocal ~, 1 + TAPER_UNARY_RECIPROCAL
#define TAPER_EW_KERNEL_OF_rsqrt ~, 1 + TAPER_UNARY_RSQRT
#define TAPER_EW_KERNEL_OF_cubed ~, 1 + TAPER_UNARY_CUBED
#define TAPER_EW_KERNEL_OF_sign ~, 1 + TAPER_UNARY_SIGN
#define TAPER_EW_KERNEL_OF_sgn ~, 1 + TAPER_UNARY_SIGN
#define TAPER_EW_KERNEL_OF_round ~, 1 + TAPER_UNARY_ROUND
#define TAPER_EW_KERNEL_OF_floor ~, 1 + TAPER_UNARY_FLOOR
#define TAPER_EW_KERNEL_OF_ceil ~, 1 + TAPER_UNARY_CEIL
#define TAPER_EW_KERNEL_OF_trunc ~, 1 + TAPER_UNARY_TRUNC
#define TAPER_EW_KERNEL_OF_softplus ~, 1 + TAPER_UNARY_SOFTPLUS
#define TAPER_EW_KERNEL_OF_mish ~, 1 + TAPER_UNARY_MISH
#define TAPER_EW_KERNEL_OF_log_sigmoid ~, 1 + TAPER_UNARY_LOG_SIGMOID
#define TAPER_EW_KERNEL_OF_erfc ~, 1 + TAPER_UNARY_ERFC
#define TAPER_EW_KERNEL_OF_erfinv ~, 1 + TAPER_UNARY_ERFINV
#define TAPER_EW_KERNEL_OF_exp2 ~, 1 + TAPER_UNARY_EXP2
#define TAPER_EW_KERNEL_OF_log2 ~, 1 + TAPER_UNARY_LOG2
#define TAPER_EW_KERNEL_OF_log10 ~, 1 + TAPER_UNARY_LOG10
#define TAPER_EW_KERNEL_OF_atan ~, 1 + TAPER_UNARY_ATAN
#define TAPER_EW_KERNEL_OF_asin ~, 1 + TAPER_UNARY_ASIN
#define TAPER_EW_KERNEL_OF_acos ~, 1 + TAPER_UNARY_ACOS
#define TAPER_EW_KERNEL_OF_tan ~, 1 + TAPER_UNARY_TAN
#define TAPER_EW_KERNEL_OF_sinh ~, 1 + TAPER_UNARY_SINH
#define TAPER_EW_KERNEL_OF_cosh ~, 1 + TAPER_UNARY_COSH
#define TAPER_EW_KERNEL_OF_logit ~, 1 + TAPER_UNARY_LOGIT
#define TAPER_EW_KERNEL_OF_frac ~, 1 + TAPER_UNARY_FRAC
#define TAPER_EW_KERNEL_OF_add ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_ADD
#define TAPER_EW_KERNEL_OF_sub ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_SUB
#define TAPER_EW_KERNEL_OF_mul ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_MUL
#define TAPER_EW_KERNEL_OF_div ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_DIV
#define TAPER_EW_KERNEL_OF_prelu ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_PRELU
#define TAPER_EW_KERNEL_OF_glu ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_GLU
#define TAPER_EW_KERNEL_OF_maximum ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_MAXIMUM
#define TAPER_EW_KERNEL_OF_minimum ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_MINIMUM
#define TAPER_EW_KERNEL_OF_fmod ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_FMOD
#define TAPER_EW_KERNEL_OF_remainder ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_REMAINDER
#define TAPER_EW_KERNEL_OF_div_floor ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_DIV_FLOOR
#define TAPER_EW_KERNEL_OF_atan2 ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_ATAN2
#define TAPER_EW_KERNEL_OF_xlogy ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_XLOGY
#define TAPER_EW_KERNEL_OF_xlog1py ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_XLOG1PY
#define TAPER_EW_KERNEL_OF_logaddexp ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_LOGADDEXP
#define TAPER_EW_KERNEL_OF_logaddexp2 ~, TAPER_EW_KERNEL_BINARY + TAPER_BINARY_LOGADDEXP2
// Kernels of ops/kernels/native.h by operator name, for the dtypes they support.
enum { TAPER_EW_SWAPPED = 0x80 }; // the kernel takes the second operand first
#define TAPER_EW_NATIVE_OF_add ~, 1 + TAPER_NATIVE_ADD
#define TAPER_EW_NATIVE_OF_sub ~, 1 + TAPER_NATIVE_SUB
#define TAPER_EW_NATIVE_OF_mul ~, 1 + TAPER_NATIVE_MUL
#define TAPER_EW_NATIVE_OF_maximum ~, 1 + TAPER_NATIVE_MAXIMUM
#define TAPER_EW_NATIVE_OF_minimum ~, 1 + TAPER_NATIVE_MINIMUM
#define TAPER_EW_NATIVE_OF_fmax ~, 1 + TAPER_NATIVE_MAXIMUM
#define TAPER_EW_NATIVE_OF_fmin ~, 1 + TAPER_NATIVE_MINIMUM
#define TAPER_EW_NATIVE_OF_bitwise_and ~, 1 + TAPER_NATIVE_AND
#define TAPER_EW_NATIVE_OF_bitwise_or ~, 1 + TAPER_NATIVE_OR
#define TAPER_EW_NATIVE_OF_bitwise_xor ~, 1 + TAPER_NATIVE_XOR
#define TAPER_EW_NATIVE_OF_bitwise_not ~, 1 + TAPER_NATIVE_NOT
#define TAPER_EW_NATIVE_OF_neg ~, 1 + TAPER_NATIVE_NEG
#define TAPER_EW_NATIVE_OF_abs ~, 1 + TAPER_NATIVE_ABS
#define TAPER_EW_NATIVE_OF_conj ~, 1 + TAPER_NATIVE_CONJ
#define TAPER_EW_NATIVE_OF_shift_left ~, 1 + TAPER_NATIVE_SHIFT_LEFT
#define TAPER_EW_NATIVE_OF_shift_right ~, 1 + TAPER_NATIVE_SHIFT_RIGHT
#define TAPER_EW_NATIVE_OF_clamp_scalars ~, 1 + TAPER_NATIVE_CLAMP
#define TAPER_EW_NATIVE_OF_hardtanh ~, 1 + TAPER_NATIVE_CLAMP
#define TAPER_EW_NATIVE_OF_eq ~, 1 + TAPER_NATIVE_EQ
#define TAPER_EW_NATIVE_OF_ne ~, 1 + TAPER_NATIVE_NE
#define TAPER_EW_NATIVE_OF_lt ~, 1 + TAPER_NATIVE_LT
#define TAPER_EW_NATIVE_OF_le ~, 1 + TAPER_NATIVE_LE
#define TAPER_EW_NATIVE_OF_gt ~, 1 + TAPER_NATIVE_LT + TAPER_EW_SWAPPED
#define TAPER_EW_NATIVE_OF_ge ~, 1 + TAPER_NATIVE_LE + TAPER_EW_SWAPPED
#define TAPER_EW_NATIVE_OF_div_trunc ~, 1 + TAPER_NATIVE_DIV_TRUNC
#define TAPER_EW_NATIVE_OF_div_floor ~, 1 + TAPER_NATIVE_DIV_FLOOR
#define TAPER_EW_NATIVE_OF_fmod ~, 1 + TAPER_NATIVE_FMOD
#define TAPER_EW_NATIVE_OF_remainder ~, 1 + TAPER_NATIVE_REMAINDER
#define TAPER_EW_NATIVE_OF_where ~, 1 + TAPER_NATIVE_WHERE
#define TAPER_EW_NATIVE_OF_clamp ~, 1 + TAPER_NATIVE_CLAMP_TENSORS
#define TAPER_EW_NATIVE_OF_addcmul ~, 1 + TAPER_NATIVE_ADDCMUL
#define TAPER_EW_NATIVE_OF_addcdiv ~, 1 + TAPER_NATIVE_ADDCDIV
#define TAPER_EW_NATIVE_OF_lerp ~, 1 + TAPER_NATIVE_LERP
#define TAPER_EW_NATIVE_OF_nextafter ~, 1 + TAPER_NATIVE_NEXTAFTER
#define TAPER_EW_NATIVE_OF_hypot ~, 1 + TAPER_NATIVE_HYPOT
#define TAPER_EW_NATIVE_OF_softshrink ~, 1 + TAPER_NATIVE_SOFTSHRINK
#define TAPER_EW_NATIVE_OF_hardshrink ~, 1 + TAPER_NATIVE_HARDSHRINK
#define TAPER_EW_NATIVE_OF_threshold ~, 1 + TAPER_NATIVE_THRESHOLD
#define TAPER_EW_NATIVE_OF_complex ~, 1 + TAPER_NATIVE_COMPLEX
#define TAPER_EW_NATIVE_OF_polar ~, 1 + TAPER_NATIVE_POLAR
#define TAPER_EW_NATIVE_OF_angle ~, 1 + TAPER_NATIVE_ANGLE
#define TAPER_EW_NATIVE_OF_div ~, 1 + TAPER_NATIVE_DIV
#define TAPER_EW_NATIVE_OF_exp ~, 1 + TAPER_NATIVE_EXP
#define TAPER_EW_NATIVE_OF_expm1 ~, 1 + TAPER_NATIVE_EXPM1
#define TAPER_EW_NATIVE_OF_log ~, 1 + TAPER_NATIVE_LOG
#define TAPER_EW_NATIVE_OF_log1p ~, 1 + TAPER_NATIVE_LOG1P
#define TAPER_EW_NATIVE_OF_tanh ~, 1 + TAPER_NATIVE_TANH
#define TAPER_EW_NATIVE_OF_sigmoid ~, 1 + TAPER_NATIVE_SIGMOID
#define TAPER_EW_NATIVE_OF_silu ~, 1 + TAPER_NATIVE_SILU
#define TAPER_EW_NATIVE_OF_sin ~, 1 + TAPER_NATIVE_SIN
#define TAPER_EW_NATIVE_OF_cos ~, 1 + TAPER_NATIVE_COS
#define TAPER_EW_NATIVE_OF_pow ~, 1 + TAPER_NATIVE_POW
#define TAPER_EW_NATIVE_OF_tan ~, 1 + TAPER_NATIVE_TAN
#define TAPER_EW_NATIVE_OF_sqrt ~, 1 + TAPER_NATIVE_SQRT
#define TAPER_EW_NATIVE_OF_rsqrt ~, 1 + TAPER_NATIVE_RSQRT
#define TAPER_EW_NATIVE_OF_reciprocal ~, 1 + TAPER_NATIVE_RECIPROCAL
#define TAPER_EW_NATIVE_OF_floor ~, 1 + TAPER_NATIVE_FLOOR
#define TAPER_EW_NATIVE_OF_ceil ~, 1 + TAPER_NATIVE_CEIL
#define TAPER_EW_NATIVE_OF_trunc ~, 1 + TAPER_NATIVE_TRUNC
#define TAPER_EW_NATIVE_OF_round ~, 1 + TAPER_NATIVE_ROUND
#define TAPER_EW_NATIVE_OF_atan ~, 1 + TAPER_NATIVE_ATAN
#define TAPER_EW_NATIVE_OF_asin ~, 1 + TAPER_NATIVE_ASIN
#define TAPER_EW_NATIVE_OF_acos ~, 1 + TAPER_NATIVE_ACOS
#define TAPER_EW_NATIVE_OF_atan2 ~, 1 + TAPER_NATIVE_ATAN2
#define TAPER_EW_NATIVE_OF_sinh ~, 1 + TAPER_NATIVE_SINH
#define TAPER_EW_NATIVE_OF_cosh ~, 1 + TAPER_NATIVE_COSH
#define TAPER_EW_NATIVE_OF_elu ~, 1 + TAPER_NATIVE_ELU
#define TAPER_EW_NATIVE_OF_softplus ~, 1 + TAPER_NATIVE_SOFTPLUS
#define TAPER_EW_NATIVE_OF_log_sigmoid ~, 1 + TAPER_NATIVE_LOG_SIGMOID
#define TAPER_EW_NATIVE_OF_mish ~, 1 + TAPER_NATIVE_MISH
#define TAPER_EW_NATIVE_OF_gelu_tanh ~, 1 + TAPER_NATIVE_GELU_TANH
#define TAPER_EW_NATIVE_OF_atanh ~, 1 + TAPER_NATIVE_ATANH
#define TAPER_EW_NATIVE_OF_i0 ~, 1 + TAPER_NATIVE_I0
#define TAPER_EW_NATIVE_OF_i0e ~, 1 + TAPER_NATIVE_I0E
#define TAPER_EW_NATIVE_OF_i1 ~, 1 + TAPER_NATIVE_I1
#define TAPER_EW_NATIVE_OF_i1e ~, 1 + TAPER_NATIVE_I1E
#define TAPER_EW_NATIVE_OF_ndtr ~, 1 + TAPER_NATIVE_NDTR
#define TAPER_EW_NATIVE_OF_ndtri ~, 1 + TAPER_NATIVE_NDTRI
#define TAPER_EW_NATIVE_OF_digamma ~, 1 + TAPER_NATIVE_DIGAMMA
#define TAPER_EW_NATIVE_OF_lgamma ~, 1 + TAPER_NATIVE_LGAMMA
#define TAPER_EW_NATIVE_OF_polygamma ~, 1 + TAPER_NATIVE_TRIGAMMA
#define TAPER_EW_SECOND(first, second, ...) second
#define TAPER_EW_PICK(...) TAPER_EW_SECOND(__VA_ARGS__)
#define TAPER_EW_KERNEL(name) TAPER_EW_PICK(TAPER_EW_KERNEL_OF_##name, 0, ~)
#define TAPER_EW_NATIVE(name) TAPER_EW_PICK(TAPER_EW_NATIVE_OF_##name, 0, ~)

// Loops over bools by operator name. NULL: the operator computes bools as integers.
#define TAPER_EW_BOOL_OF_bitwise_and ~, bitwise_and_u8
#define TAPER_EW_BOOL_OF_bitwise_or ~, bitwise_or_u8
#define TAPER_EW_BOOL_OF_bitwise_xor ~, bitwise_xor_u8
#define TAPER_EW_BOOL_OF_logical_and ~, bitwise_and_u8
#define TAPER_EW_BOOL_OF_logical_or ~, bitwise_or_u8
#define TAPER_EW_BOOL_OF_logical_xor ~, bitwise_xor_u8
#define TAPER_EW_BOOL_OF_logical_not ~, logical_not_u8
#define TAPER_EW_BOOL_OF_mul ~, bitwise_and_u8
#define TAPER_EW_BOOL_OF_ne ~, bitwise_xor_u8
#define TAPER_EW_BOOL(name) TAPER_EW_PICK(TAPER_EW_BOOL_OF_##name, NULL, ~)

#define TAPER_EW_RECORD(name, promotion, result_, scalars_, ...)                                                       \
    const taper_ew_op taper_ew_##name = {.loops = {__VA_ARGS__},                                                       \
                                         TAPER_EW_PROMOTION_##promotion,                                               \
                                         .result = TAPER_EW_##result_,                                                 \
                                         .scalars = (scalars_),                                                        \
                                         .kernel = TAPER_EW_KERNEL(name),                                              \
                                         .native = TAPER_EW_NATIVE(name)};

#endif
