// SPDX-License-Identifier: BSD-2-Clause
// Part of vector_f32_tmpl.h: functions that small builds lack. vector_f32_tmpl.h expands the macros of this file.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_MORE_TMPL_H
#define TAPER_OPS_KERNELS_VECTOR_F32_MORE_TMPL_H

#define UNARY_AT_ONCE(at_once) (at_once)
#define UNARY_FUNCTIONS_MORE(UNARY) TAPER_UNARY_F32_MORE(UNARY)
#define UNARY_ENTRIES_MORE(UNARY) TAPER_UNARY_F32_MORE(UNARY)
#define BINARY_FUNCTIONS_MORE(BINARY)                                                                                  \
    BINARY(glu) BINARY(maximum) BINARY(minimum) BINARY(fmod) BINARY(remainder) BINARY(div_floor)
#define BINARY_VECTOR_FUNCTIONS_MORE(BINARY)                                                                           \
    BINARY(atan2) BINARY(xlogy) BINARY(xlog1py) BINARY(logaddexp) BINARY(logaddexp2)
#define BINARY_ENTRIES_MORE                                                                                            \
    BINARY(glu, TAPER_USES(taper_op_glu)), BINARY(maximum, TAPER_USES(taper_ew_maximum)),                              \
        BINARY(minimum, TAPER_USES(taper_ew_minimum)), BINARY(fmod, TAPER_USES(taper_ew_fmod)),                        \
        BINARY(remainder, TAPER_USES(taper_ew_remainder)),                                                             \
        BINARY(div_floor, TAPER_USES(taper_op_div_mode) || TAPER_USES(taper_ew_div_floor)),                            \
        BINARY_VV(atan2, TAPER_USES(taper_ew_atan2) || TAPER_USES(taper_op_angle)),                                    \
        BINARY_VV(xlogy, TAPER_USES(taper_ew_xlogy)), BINARY_VV(xlog1py, TAPER_USES(taper_ew_xlog1py)),                \
        BINARY_VV(logaddexp, TAPER_USES(taper_ew_logaddexp)), BINARY_VV(logaddexp2, TAPER_USES(taper_ew_logaddexp2))
#define POOLED_AT_ONCE 4 // number of vectors that pooling computes per step
// Whole vectors of a pixel have a separate loop.
#define BILINEAR_WHOLE 1
#define NUMBERS_MORE(function) IF_BUILT(TAPER_REDUCES, function)
#define DISTANCE(name)                                                                                                 \
    IF_BUILT(TAPER_USES(taper_op_cdist) || TAPER_USES(taper_op_euclidean_dist) || TAPER_USES(taper_op_pdist),          \
             distances_##name)
#define ENTRIES_MORE                                                                                                   \
    .outer = outer, .multiply_rows = multiply_rows,                                                                    \
    .distances = {DISTANCE(sum), DISTANCE(squares), DISTANCE(powers), DISTANCE(most), DISTANCE(different)},            \
    .fold_lines = {[TAPER_REDUCTION_SUM] = lines_sum,                                                                  \
                   [TAPER_REDUCTION_MOST] = lines_most,                                                                \
                   [TAPER_REDUCTION_LEAST] = lines_least},

TAPER_TEMPLATE void outer_rows(const int added, size_t rows, size_t n, const float *a, size_t a_step, const float *b,
                               const float *x, size_t x_stride, float *y, size_t y_stride)
{
    for (size_t r = 0; r < rows; r++, a += a_step, y += y_stride) {
        const V factor = v_set(*a);
        size_t c = 0;
        for (; c + VN <= n; c += VN) {
            const V product = v_mul(factor, v_load(b + c));
            v_store(y + c, added ? v_add(v_load(x + c), product) : product);
        }
        if (c < n) {
            const VT t = v_first(n - c);
            const V product = v_mul(factor, v_load_t(b + c, t));
            v_store_t(y + c, added ? v_add(v_load_t(x + c, t), product) : product, t);
        }
        x = added ? x + x_stride : x;
    }
}

static void outer(size_t rows, size_t n, const float *a, size_t a_step, const float *b, const float *x, size_t x_stride,
                  float *y, size_t y_stride)
{
    if (x != NULL) {
        outer_rows(1, rows, n, a, a_step, b, x, x_stride, y, y_stride);
    } else {
        outer_rows(0, rows, n, a, a_step, b, NULL, 0, y, y_stride);
    }
}

// Computes four vectors at a time, because loads limit the speed. Returns the number of channels that are done.
TAPER_TEMPLATE size_t channels_by_four(const int scaled, const int shifted, size_t count, const float *x,
                                       const float *scale, const float *shift, float *y, V low, V high)
{
    size_t c = 0;
    for (; c + 4 * VN <= count; c += 4 * VN) {
        V v[4];
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++) {
            const V a = v_load(x + c + j * VN);
            v[j] = !shifted  ? v_mul(a, v_load(scale + c + j * VN))
                   : !scaled ? v_add(a, v_load(shift + c + j * VN))
                             : v_fma(a, v_load(scale + c + j * VN), v_load(shift + c + j * VN));
        }
        TAPER_UNROLL
        for (size_t j = 0; j < 4; j++)
            v_store(y + c + j * VN, v_clamp(v[j], low, high));
    }
    return c;
}

TAPER_TEMPLATE size_t channels_at_once(size_t count, const float *x, const float *scale, const float *shift, float *y,
                                       V low, V high)
{
    size_t c = 0;
    if ((scale != NULL || shift != NULL))
        c = scale == NULL   ? channels_by_four(0, 1, count, x, NULL, shift, y, low, high)
            : shift != NULL ? channels_by_four(1, 1, count, x, scale, shift, y, low, high)
                            : channels_by_four(1, 0, count, x, scale, NULL, y, low, high);
    return c;
}

// Transposes a few columns, which would leave most of a tile empty.
TAPER_TEMPLATE void turn_narrow(const size_t columns, size_t rows, const float *restrict x, size_t x_stride,
                                float *restrict y, size_t y_stride)
{
    for (size_t r = 0; r < rows; r++) {
        TAPER_UNROLL
        for (size_t c = 0; c < columns; c++)
            y[c * y_stride + r] = x[r * x_stride + c];
    }
}

static int transpose_narrow(size_t rows, size_t columns, const float *x, size_t x_stride, float *y, size_t y_stride)
{
    if (columns > 4 || columns >= VN)
        return 0;
    if (columns == 4)
        turn_narrow(4, rows, x, x_stride, y, y_stride);
    else if (columns == 3)
        turn_narrow(3, rows, x, x_stride, y, y_stride);
    else if (columns == 2)
        turn_narrow(2, rows, x, x_stride, y, y_stride);
    else if (columns == 1)
        turn_narrow(1, rows, x, x_stride, y, y_stride);
    return 1;
}

// Transposes a small part of a tile at its edge, for which whole squares would take longer. Returns 0 if the part is
// too large.
static int transpose_corner(size_t rows, size_t columns, const float *from, size_t x_stride, float *to, size_t y_stride)
{
    if (VN > 8 && columns == 8 && rows <= 8) {
        turn_narrow(8, rows, from, x_stride, to, y_stride);
        return 1;
    }
    if (VN <= 8 || columns * rows > VN * VN / 4)
        return 0;
    for (size_t i = 0; i < columns; i++)
        for (size_t k = 0; k < rows; k++)
            to[i * y_stride + k] = from[k * x_stride + i];
    return 1;
}

#endif
