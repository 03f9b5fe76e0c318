// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/vector_f32_more_tmpl.h in small builds, which omit its code.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_MORE_TMPL_H
#define TAPER_OPS_KERNELS_VECTOR_F32_MORE_TMPL_H

TAPER_TEMPLATE size_t channels_at_once(size_t count, const float *x, const float *scale, const float *shift, float *y,
                                       V low, V high)
{
    (void)count, (void)x, (void)scale, (void)shift, (void)y, (void)low, (void)high;
    return 0;
}

#define UNARY_AT_ONCE(at_once) 1
#define UNARY_FUNCTIONS_MORE(UNARY)
#define UNARY_ENTRIES_MORE(UNARY)
#define BINARY_FUNCTIONS_MORE(BINARY)
#define BINARY_VECTOR_FUNCTIONS_MORE(BINARY)
#define BINARY_ENTRIES_MORE
#define POOLED_AT_ONCE 1
#define BILINEAR_WHOLE 0
#define NUMBERS_MORE(function) NULL
#define ENTRIES_MORE

TAPER_TEMPLATE int transpose_narrow(size_t rows, size_t columns, const float *x, size_t x_stride, float *y,
                                    size_t y_stride)
{
    (void)rows, (void)columns, (void)x, (void)x_stride, (void)y, (void)y_stride;
    return 0;
}

TAPER_TEMPLATE int transpose_corner(size_t rows, size_t columns, const float *from, size_t x_stride, float *to,
                                    size_t y_stride)
{
    (void)rows, (void)columns, (void)from, (void)x_stride, (void)to, (void)y_stride;
    return 0;
}

#endif
