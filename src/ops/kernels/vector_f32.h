// SPDX-License-Identifier: BSD-2-Clause
// Elementwise, pooling, reduction and reordering kernels on floats. One entry per instruction set has all of them:
//   const taper_vector_entry *v = taper_vector_f32_select(cpu);  v->unary[TAPER_UNARY_SIGMOID](n, x, y, NULL);
//
// A kernel of this family reads and writes only the elements that its arguments name. y may be x (or a or b) itself,
// but must not overlap it in any other way. Strides are in floats. min and max are limits of the results; they are
// -INFINITY and INFINITY if there are no limits. A NaN stays NaN.
//
// Accuracy, measured on one float in 101 against double precision (kernel_check --thorough), in units of the last
// place:
//   exp 1.0, sigmoid 2.6, silu 2.6 (7 below -87), tanh 1.3, erf 1.4, hardswish 2.5, hardsigmoid 1.4
//   log 1.0, log1p 1.5, softplus 2.6, mish and log_sigmoid 3; sin, cos: absolute error at most 2^-22
//   log2, log10 1.9, exp2 1.1, atan 1.5, asin 2.3, acos 1.1, tan 3.3, sinh and cosh 3, erfc 4.5, erfinv 3.3
//   logit: absolute error 2^-22; atan2 and the other binary functions: 3.6e-7 of the result, and of the larger operand
//   of a sum
//   gelu: absolute error at most 2^-23 of |x|; gelu_tanh: 2^-22 of |x|; elu: 2^-22 of p0
//   softmax: relative error 5e-7 + 2^-24 * (distance to the maximum + n)
// Results below 2^-126 are within 2 of the last denormal place.
#ifndef TAPER_KERNELS_VECTOR_F32_H
#define TAPER_KERNELS_VECTOR_F32_H

#include "ops/kernels/arch.h"
#include "ops/list/op_features.h"

// UNARY(NAME, function, number of parameters p, vectors per step, built). Short functions have several vectors per
// step. built: this build has the function; otherwise its entry in the table is NULL.
// clang-format off
#define TAPER_UNARY_F32(UNARY)                                                                          \
    UNARY(CLAMP, clamp, 2, 4, 1)          /* min(max(x, p0), p1): relu (0, inf), relu6 (0, 6), hardtanh */ \
    UNARY(AFFINE, affine, 4, 4, 1)        /* clamp(x * p0 + p1, p2, p3) */                                 \
    UNARY(LEAKY_RELU, leaky_relu, 1, 4, TAPER_USES(taper_ew_leaky_relu)) /* x < 0 ? x * p0 : x */          \
    UNARY(ELU, elu, 3, 1, TAPER_COMPUTES_ELU) /* x <= 0 ? p0 * (exp(x * p2) - 1) : x * p1 */               \
    UNARY(HARDSWISH, hardswish, 0, 4, TAPER_USES(taper_ew_hardswish)) /* x * clamp(x + 3, 0, 6) / 6 */     \
    UNARY(HARDSIGMOID, hardsigmoid, 0, 4, TAPER_USES(taper_ew_hardsigmoid)) /* clamp(x + 3, 0, 6) / 6 */   \
    UNARY(SIGMOID, sigmoid, 0, 1, TAPER_USES(taper_ew_sigmoid))                                            \
    UNARY(SILU, silu, 0, 1, TAPER_USES(taper_ew_silu))                                                     \
    UNARY(TANH, tanh, 0, 1, TAPER_USES(taper_ew_tanh) || TAPER_RECURS)                                     \
    UNARY(EXP, exp, 0, 1, TAPER_USES(taper_ew_exp) || TAPER_COMPUTES_SOFTMAX)                              \
    UNARY(EXPM1, expm1, 0, 1, TAPER_USES(taper_ew_expm1))                                                  \
    UNARY(SQRT, sqrt, 0, 4, TAPER_USES(taper_ew_sqrt) || TAPER_RAISES)                                     \
    UNARY(SQUARED, squared, 0, 4, TAPER_RAISES)                                                            \
    UNARY(ABS, abs, 0, 4, TAPER_USES(taper_ew_abs))                                                        \
    UNARY(GELU, gelu, 0, 1, TAPER_COMPUTES_ERF || TAPER_ATTENDS) /* exact, with erf */                     \
    UNARY(GELU_TANH, gelu_tanh, 0, 1, TAPER_COMPUTES_ERF)                                                  \
    UNARY(ERF, erf, 0, 1, TAPER_COMPUTES_ERF)                                                              \
    UNARY(NEG, neg, 0, 4, TAPER_USES(taper_ew_neg))
// Functions that small builds lack.
#define TAPER_UNARY_F32_MORE(UNARY) \
    UNARY(LOG, log, 0, 1, TAPER_USES(taper_ew_log))                                                        \
    UNARY(LOG1P, log1p, 0, 1, TAPER_USES(taper_ew_log1p))                                                  \
    UNARY(SIN, sin, 0, 1, TAPER_USES(taper_ew_sin))                                                        \
    UNARY(COS, cos, 0, 1, TAPER_USES(taper_ew_cos))                                                        \
    UNARY(RECIPROCAL, reciprocal, 0, 4, TAPER_USES(taper_ew_reciprocal))                                   \
    UNARY(RSQRT, rsqrt, 0, 4, TAPER_USES(taper_ew_rsqrt))                                                  \
    UNARY(CUBED, cubed, 0, 4, TAPER_RAISES)                                                \
    UNARY(SIGN, sign, 0, 4, TAPER_USES(taper_ew_sign))                                                     \
    UNARY(ROUND, round, 0, 4, TAPER_USES(taper_ew_round))                                                  \
    UNARY(FLOOR, floor, 0, 4, TAPER_USES(taper_ew_floor))                                                  \
    UNARY(CEIL, ceil, 0, 4, TAPER_USES(taper_ew_ceil))                                                     \
    UNARY(TRUNC, trunc, 0, 4, TAPER_USES(taper_ew_trunc))                                                  \
    UNARY(SOFTPLUS, softplus, 2, 1, TAPER_USES(taper_ew_softplus)) /* x p0 > p1 ? x : log(1 + exp(x p0)) / p0 */ \
    UNARY(MISH, mish, 0, 1, TAPER_USES(taper_ew_mish))                                                     \
    UNARY(LOG_SIGMOID, log_sigmoid, 0, 1, TAPER_USES(taper_ew_log_sigmoid))                                \
    UNARY(ERFC, erfc, 0, 1, TAPER_USES(taper_ew_erfc))                                                     \
    UNARY(ERFINV, erfinv, 0, 1, TAPER_USES(taper_ew_erfinv))                                               \
    UNARY(EXP2, exp2, 0, 1, TAPER_USES(taper_ew_exp2))                                                     \
    UNARY(LOG2, log2, 0, 1, TAPER_USES(taper_ew_log2))                                                     \
    UNARY(LOG10, log10, 0, 1, TAPER_USES(taper_ew_log10))                                                  \
    UNARY(LOGIT, logit, 1, 1, TAPER_USES(taper_op_logit)) /* log(x / (1 - x)), with x clamped to [p0, 1 - p0] */  \
    UNARY(ATAN, atan, 0, 1, TAPER_USES(taper_ew_atan))                                                     \
    UNARY(ASIN, asin, 0, 1, TAPER_USES(taper_ew_asin))                                                     \
    UNARY(ACOS, acos, 0, 1, TAPER_USES(taper_ew_acos))                                                     \
    UNARY(TAN, tan, 0, 1, TAPER_USES(taper_ew_tan))                                                        \
    UNARY(SINH, sinh, 0, 1, TAPER_USES(taper_ew_sinh))                                                     \
    UNARY(COSH, cosh, 0, 1, TAPER_USES(taper_ew_cosh))                                                     \
    UNARY(FRAC, frac, 0, 4, TAPER_USES(taper_ew_frac))
// clang-format on

#define UNARY(NAME, function, parameters, at_once, built) TAPER_UNARY_##NAME,
typedef enum taper_unary { TAPER_UNARY_F32(UNARY) TAPER_UNARY_F32_MORE(UNARY) TAPER_UNARY_COUNT } taper_unary;
#undef UNARY

typedef enum taper_binary {
    TAPER_BINARY_ADD,
    TAPER_BINARY_SUB,
    TAPER_BINARY_MUL,
    TAPER_BINARY_DIV,
    TAPER_BINARY_PRELU,   // computes a > 0 ? a : a * b
    TAPER_BINARY_GLU,     // computes a * sigmoid(b)
    TAPER_BINARY_MAXIMUM, // the result is NaN if either operand is NaN, also for MINIMUM
    TAPER_BINARY_MINIMUM,
    TAPER_BINARY_FMOD,      // remainder of the division that truncates
    TAPER_BINARY_REMAINDER, // remainder of the division that floors
    TAPER_BINARY_DIV_FLOOR, // quotient of the division that floors
    TAPER_BINARY_ATAN2,     // ATAN2 and the following operators support only TAPER_OPERANDS_VV
    TAPER_BINARY_XLOGY,
    TAPER_BINARY_XLOG1PY,
    TAPER_BINARY_LOGADDEXP,
    TAPER_BINARY_LOGADDEXP2,
    TAPER_BINARY_COUNT
} taper_binary;
typedef enum taper_operands {
    TAPER_OPERANDS_VV, // a and b are both vectors
    TAPER_OPERANDS_VS, // a is a vector, b is one float
    TAPER_OPERANDS_SV, // a is one float, b is a vector
    TAPER_OPERANDS_COUNT
} taper_operands;

typedef void taper_unary_f32_function(size_t n, const float *x, float *y, const float *p);
// Computes y = clamp(a op b, min, max). min 0 fuses an addition with relu.
typedef void taper_binary_f32_function(size_t n, const float *a, const float *b, float *y, float min, float max);
// Computes y = a * wa + b * wb. This gives an output row of a bilinear resize (NCHW) from two input rows, and blends
// tensors.
typedef void taper_blend_f32_function(size_t n, const float *a, const float *b, float wa, float wb, float *y);
// Computes y[r][c] = clamp(x[r][c] * scale[c] + shift[c]) for NHWC. A NULL scale is 1, a NULL shift is 0. The function
// serves batch norm, squeeze-and-excite (scale only) and bias. For NCHW use unary AFFINE per plane.
typedef void taper_channels_f32_function(size_t rows, size_t channels, const float *x, size_t x_stride,
                                         const float *scale, const float *shift, float *y, size_t y_stride, float min,
                                         float max);
// Computes y[r][c] = a[r] * b[c], plus x[r][c] unless x is NULL. The elements of `a` are a_step floats apart.
typedef void taper_outer_f32_function(size_t rows, size_t n, const float *a, size_t a_step, const float *b,
                                      const float *x, size_t x_stride, float *y, size_t y_stride);
// Reductions. They add floats as floats, so a caller with many elements adds a few thousand at a time.
typedef enum taper_reduction {
    TAPER_REDUCTION_SUM,     // sum; 0 for no elements
    TAPER_REDUCTION_SQUARES, // sum of squares
    TAPER_REDUCTION_ABS,     // sum of magnitudes
    TAPER_REDUCTION_NUMBERS, // sum of the elements that are not NaN
    TAPER_REDUCTION_MOST,    // maximum; NaN if an element is NaN, -INFINITY for no elements
    TAPER_REDUCTION_LEAST,   // minimum; NaN if an element is NaN, INFINITY for no elements
    TAPER_REDUCTION_COUNT,
    TAPER_REDUCTION_NONE = TAPER_REDUCTION_COUNT
} taper_reduction;
typedef float taper_reduce_f32_function(size_t n, const float *x);
// Returns the sum of (x - mean)^2.
typedef float taper_deviations_f32_function(size_t n, const float *x, float mean);
// Computes out[c], the reduction of x[r][c] over r.
typedef void taper_reduce_rows_f32_function(size_t rows, size_t columns, const float *x, size_t x_stride, float *out);
// Computes out[c], the product of x[r][c] over r. Returns false if there are fewer columns than two vectors have, or if
// an intermediate product over- or underflows.
typedef bool taper_multiply_rows_f32_function(size_t rows, size_t columns, const float *x, size_t x_stride, float *out);
// Computes, for n columns c, the distance of x[r] and y[r][c] over r: the sum of magnitudes, of squares, or of powers p
// > 0; the largest magnitude; or the number of differences that are not 0. Floats are added as floats.
typedef enum taper_distance {
    TAPER_DISTANCE_SUM,
    TAPER_DISTANCE_SQUARES,
    TAPER_DISTANCE_POWERS,
    TAPER_DISTANCE_MOST,
    TAPER_DISTANCE_DIFFERENT,
    TAPER_DISTANCE_COUNT
} taper_distance;
typedef void taper_distance_f32_function(size_t rows, size_t n, const float *x, const float *y, size_t y_stride,
                                         float p, float *out);
// Computes out[c] = scale * sum over rows r of x[r][c], for global average pooling and means over NHWC pixels. rows may
// be 0.
typedef void taper_sum_rows_f32_function(size_t rows, size_t channels, const float *x, size_t x_stride, float scale,
                                         float *out);
// Computes out[i], the reduction of the n floats at x + i * x_stride. A line (the n floats of one reduction) has at
// least the length of a vector, and at most a few times this length. Computed one by one, such lines would wait for the
// latency of each addition. The result of a line does not depend on the other lines.
typedef void taper_reduce_lines_f32_function(size_t lines, size_t n, const float *x, size_t x_stride, float *out);
// Computes y = exp(x - max) / sum of these exponentials for one row, or the logarithm of this quotient.
typedef void taper_softmax_f32_function(size_t n, const float *x, float *y);
// Computes (x - mean) / sqrt(variance + eps) * gamma + beta for one row. gamma and beta may be NULL. n > 0.
typedef void taper_layer_norm_f32_function(size_t n, const float *x, const float *gamma, const float *beta, float eps,
                                           float *y);
// Pools NHWC pixels. Tap t < taps (> 0) of pixel i < m is the `channels` floats at a[t * a_tap_stride + i] + a_offset
// bytes. For a window that the border cuts, the maximum needs repeated pointers to any pixel inside, and the average
// needs the pointer `zero`, to which a_offset is not added.
typedef void taper_max_pool_f32_function(size_t m, size_t channels, size_t taps, const float *const *a,
                                         size_t a_tap_stride, size_t a_offset, float *y, size_t y_stride);
// Computes the averages: the sum of pixel i, added in the order of the taps, is divided by divisors[i].
typedef void taper_avg_pool_f32_function(size_t m, size_t channels, size_t taps, const float *const *a,
                                         size_t a_tap_stride, size_t a_offset, const float *zero, const float *divisors,
                                         float *y, size_t y_stride);
// Computes NHWC bilinear interpolation: pixel i from its four neighbours a[t * a_tap_stride + i] + a_offset bytes,
// where t is 0 for top left, 1 top right, 2 bottom left, 3 bottom right. w[2 * i] is the weight of the right
// neighbours, w[2 * i + 1] the weight of the bottom neighbours.
typedef void taper_bilinear_f32_function(size_t m, size_t channels, const float *const *a, size_t a_tap_stride,
                                         size_t a_offset, const float *w, float *y, size_t y_stride);
// Computes y[i] = x[2 * i] for i < n. It reads no float after x[2 * (n - 1)].
typedef void taper_every_second_f32_function(size_t n, const float *x, float *y);
// Computes y[c * y_stride + r] = x[r * x_stride + c]. y must not be x. NCHW to NHWC has rows = C and columns = H * W;
// NHWC to NCHW has rows = H * W and columns = C.
typedef void taper_transpose_f32_function(size_t rows, size_t columns, const float *x, size_t x_stride, float *y,
                                          size_t y_stride);
// Computes y[i] = clamp(dot(x, w + i * w_stride) + bias[i]) for i < n, over k floats: a fully connected layer on one
// input, with unpacked [out, in] weights, as in the file. bias may be NULL.
typedef void taper_gemv_f32_function(size_t n, size_t k, const float *x, const float *w, size_t w_stride,
                                     const float *bias, float *y, float min, float max);
// Computes recurrent cells: n units of one row, whose gates are `step` floats apart, with the formulas and gate order
// of torch.nn.LSTM and GRU. c and h receive the new state. `before` is the previous state, which may be h. `of_state`
// is the part of GRU's `new` gate that comes from the state; the other gates already contain their parts from the
// state.
typedef void taper_lstm_cell_f32_function(size_t n, const float *gates, size_t step, float *c, float *h);
typedef void taper_gru_cell_f32_function(size_t n, const float *gates, size_t step, const float *of_state,
                                         const float *before, float *h);

typedef struct taper_vector_entry {
    const char *name;
    uint64_t cpu;
    uint32_t lanes;
    taper_unary_f32_function *unary[TAPER_UNARY_COUNT];
    // NULL if there is no kernel for these operands.
    taper_binary_f32_function *binary[TAPER_BINARY_COUNT][TAPER_OPERANDS_COUNT];
    taper_blend_f32_function *blend;
    taper_channels_f32_function *channels;
    taper_outer_f32_function *outer; // NULL in small builds
    taper_reduce_f32_function *fold[TAPER_REDUCTION_COUNT];
    taper_reduce_rows_f32_function *fold_rows[TAPER_REDUCTION_COUNT];
    // Set for sums, maxima and minima; NULL for other reductions and in small builds.
    taper_reduce_lines_f32_function *fold_lines[TAPER_REDUCTION_COUNT];
    taper_multiply_rows_f32_function *multiply_rows; // NULL in small builds
    taper_deviations_f32_function *deviations;
    taper_distance_f32_function *distances[TAPER_DISTANCE_COUNT];
    taper_sum_rows_f32_function *sum_rows;
    taper_softmax_f32_function *softmax, *log_softmax;
    taper_reduce_f32_function *log_sum_exp;
    taper_layer_norm_f32_function *layer_norm;
    taper_max_pool_f32_function *max_pool;
    taper_avg_pool_f32_function *avg_pool;
    taper_bilinear_f32_function *bilinear;
    taper_transpose_f32_function *transpose;
    taper_every_second_f32_function *every_second;
    taper_gemv_f32_function *gemv;
    // Gives the same results as gemv. It is faster if short rows of weights come from memory, because it reads them as
    // one stream. NULL if there is no such kernel.
    taper_gemv_f32_function *gemv_stream;
    taper_lstm_cell_f32_function *lstm_cell;
    taper_gru_cell_f32_function *gru_cell;
} taper_vector_entry;

// Each instruction set's file defines its entry. A new entry needs such a file and a row of the list.
#define KERNEL(isa) extern const taper_vector_entry taper_vector_f32_##isa;
#include "ops/kernels/vector_f32_list.inc"
#undef KERNEL

#endif
