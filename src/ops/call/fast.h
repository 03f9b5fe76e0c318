// SPDX-License-Identifier: BSD-2-Clause
// Parts of reference operators that a backend does faster. Operators made of products, elementwise loops and rows keep
// their one description of arguments, shapes, dtypes and layouts; the loops inside ask run->fast first. NULL (no
// backend, or the reference was asked for) and a part that says no leave the work to the portable loops.
//
// Parts see plain memory only: floats, strides, sizes that were checked. They may use run->pool and run->heap.
#ifndef TAPER_OPS_FAST_H
#define TAPER_OPS_FAST_H

#include "ops/engine/elementwise.h"
#include "ops/engine/matmul.h"
#include "ops/nn/resize.h"

struct taper_qlinear_params;

typedef enum taper_fast_function {
    TAPER_FAST_RELU,
    TAPER_FAST_GELU,
    TAPER_FAST_SIGMOID,
    TAPER_FAST_TANH
} taper_fast_function;

typedef struct taper_fast {
    // As taper_gemm_run_batch. TAPER_DECLINED before anything was written.
    taper_status (*gemm)(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch);
    // Every element of the walk; all its sides are float32. TAPER_DECLINED: nothing was done.
    taper_status (*elementwise)(taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                                const taper_ew_walk *walk);
    // y[row] = softmax or log_softmax of x[row], `width` floats each, one row after the other. y may be x. This one,
    // layer_norm and activate are NULL in builds without operators that want them.
    taper_status (*softmax)(taper_run *run, bool logarithm, size_t rows, size_t width, const float *x, float *y);
    // Rows normalised to mean 0 and variance 1, times weight, plus bias (each may be NULL). y may be x.
    taper_status (*layer_norm)(taper_run *run, size_t rows, size_t width, const float *x, const float *weight,
                               const float *bias, double eps, float *y);
    // In place; gelu is the exact one.
    taper_status (*activate)(taper_run *run, taper_fast_function function, size_t count, float *x);
    // y[r][c] = x[r][c] * scale[c] + shift[c]; strides in floats.
    taper_status (*channels)(taper_run *run, size_t rows, size_t count, const float *x, size_t x_stride,
                             const float *scale, const float *shift, float *y, size_t y_stride);
    // y[r] = x[r] * scale[r] + shift[r] over planes of `count` floats, one after the other.
    taper_status (*planes)(taper_run *run, size_t planes, size_t count, const float *x, const float *scale,
                           const float *shift, float *y);
    // Linear interpolation in two dimensions (axes[0] is trivial) between NHWC floats, or from NHWC to planes.
    // TAPER_DECLINED: nothing was done. NULL in builds that do not resize.
    taper_status (*bilinear)(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const float *in,
                             const taper_volume *y, float *out);
    // The same of quint8 from NHWC to NHWC. NULL in builds without such tensors.
    taper_status (*bilinear_u8)(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const uint8_t *in,
                                const taper_volume *y, uint8_t *out, int32_t zero_point);
    // As taper_qlinear_dynamic, of `rows` rows, for int8 weights of the model. TAPER_DECLINED before anything was
    // written. NULL in builds without recurrent layers that want it.
    taper_status (*linear_dynamic)(taper_call *call, const struct taper_qlinear_params *params, const float *x,
                                   size_t rows, bool relu, float *y);
} taper_fast;

#endif
