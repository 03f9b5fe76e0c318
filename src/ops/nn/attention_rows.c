// SPDX-License-Identifier: BSD-2-Clause
// Row-wise arithmetic of the fused attention operators.
#include <math.h>

#include "ops/engine/rows.h"
#include "ops/nn/attention.h"

#define ELEMENT float
#define NAME(x) x##_f32
#define EXP expf
#define ERF erff
#include "ops/nn/attention_math.h"
#undef ELEMENT
#undef NAME
#undef EXP
#undef ERF
#define ELEMENT double
#define NAME(x) x##_f64
#define EXP exp
#define ERF erf
#include "ops/nn/attention_math.h"
#undef ELEMENT
#undef NAME
#undef EXP
#undef ERF

taper_status taper_softmax_rows(taper_run *run, taper_tensor *tensor)
{
    const int64_t width = tensor->sizes[tensor->rank - 1u];
    const int64_t rows = width == 0 ? 0 : taper_tensor_numel(tensor) / width;
    if (tensor->dtype == TAPER_F32 && !run->portable && rows > 0) {
        float *x = taper_tensor_mutable(tensor);
        return taper_rows_softmax(run, false, (size_t)rows, (size_t)width, x, x);
    }
    if (tensor->dtype == TAPER_F32) {
        softmax_f32(taper_tensor_mutable(tensor), rows, width);
    } else {
        softmax_f64(taper_tensor_mutable(tensor), rows, width);
    }
    return TAPER_OK;
}

taper_status taper_layer_norm_rows(taper_run *run, taper_tensor *tensor, int64_t width, const taper_tensor *weight,
                                   const taper_tensor *bias, double eps)
{
    const int64_t rows = width == 0 ? 0 : taper_tensor_numel(tensor) / width;
    if (tensor->dtype == TAPER_F32 && !run->portable && rows > 0) {
        float *x = taper_tensor_mutable(tensor);
        return taper_rows_layer_norm(run, (size_t)rows, (size_t)width, x, taper_tensor_data(weight),
                                     taper_tensor_data(bias), eps, x);
    }
    if (tensor->dtype == TAPER_F32) {
        layer_norm_f32(taper_tensor_mutable(tensor), rows, width, taper_tensor_data(weight), taper_tensor_data(bias),
                       eps);
    } else {
        layer_norm_f64(taper_tensor_mutable(tensor), rows, width, taper_tensor_data(weight), taper_tensor_data(bias),
                       eps);
    }
    return TAPER_OK;
}

taper_status taper_activate_rows(taper_run *run, taper_tensor *tensor, bool gelu)
{
    if (tensor->dtype == TAPER_F32 && !run->portable) {
        float *x = taper_tensor_mutable(tensor);
        return taper_rows_activate(run, gelu ? TAPER_ROWS_GELU : TAPER_ROWS_RELU, (size_t)taper_tensor_numel(tensor),
                                   x);
    }
    if (tensor->dtype == TAPER_F32) {
        activate_f32(taper_tensor_mutable(tensor), taper_tensor_numel(tensor), gelu);
    } else {
        activate_f64(taper_tensor_mutable(tensor), taper_tensor_numel(tensor), gelu);
    }
    return TAPER_OK;
}

void taper_add_rows(taper_tensor *tensor, const taper_tensor *other)
{
    if (tensor->dtype == TAPER_F32) {
        add_f32(taper_tensor_mutable(tensor), taper_tensor_data(other), taper_tensor_numel(tensor));
    } else {
        add_f64(taper_tensor_mutable(tensor), taper_tensor_data(other), taper_tensor_numel(tensor));
    }
}
