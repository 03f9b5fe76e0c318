// SPDX-License-Identifier: BSD-2-Clause
// layer_norm and rms_norm of floats. An input that is not contiguous is first copied into the result and normalized
// there.
#include <float.h>

#include "ops/call/call.h"
#include "ops/engine/rows.h"

// Returns true if the parameter is None, or contiguous floats with the normalized sizes, which the kernel reads in
// place.
static bool parameter(const taper_call *call, size_t at, const taper_tensor *x, size_t count, const float **data)
{
    *data = NULL;
    if (taper_arg_is_none(call, at)) {
        return true;
    }
    if (call->args[at].tag != TAPER_TENSOR) {
        return false;
    }
    const taper_tensor *t = call->args[at].as.tensor;
    if (t->dtype != TAPER_F32 || t->hidden_nhwc || t->rank != count || !taper_tensor_is_contiguous(t) ||
        memcmp(t->sizes, x->sizes + x->rank - count, count * sizeof *t->sizes) != 0) {
        return false;
    }
    *data = taper_tensor_data(t);
    return true;
}

static taper_status norm(taper_call *call, bool square)
{
    taper_tensor *x, *y;
    int64_t shape[TAPER_MAX_RANK];
    size_t count;
    double eps;
    const float *weight, *bias = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, shape, &count));
    TAPER_TRY(square ? taper_arg_double_or(call, 3, (double)FLT_EPSILON, &eps) : taper_arg_double(call, 4, &eps));
    if (x->dtype != TAPER_F32 || x->hidden_nhwc || count < 1 || count > x->rank || taper_tensor_numel(x) == 0 ||
        memcmp(shape, x->sizes + x->rank - count, count * sizeof *shape) != 0 ||
        !parameter(call, 2, x, count, &weight) || (!square && !parameter(call, 3, x, count, &bias))) {
        return TAPER_DECLINED;
    }
    size_t width = 1;
    for (size_t i = x->rank - count; i < x->rank; i++) {
        width *= (size_t)x->sizes[i];
    }
    // The layer norm of a single element consists only of rounding errors, which the reference computes as PyTorch
    // does.
    if (width == 1 && !square) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, x->rank, x->sizes, NULL, &y));
    float *out = taper_tensor_mutable(y);
    const float *in = taper_tensor_data(x);
    if (!taper_tensor_is_contiguous(x)) {
        TAPER_TRY(taper_run_copy(call->run, y, x));
        in = out;
    }
    const size_t rows = (size_t)taper_tensor_numel(x) / width;
    return square ? taper_rows_rms_norm(call->run, rows, width, in, weight, eps, out)
                  : taper_rows_layer_norm(call->run, rows, width, in, weight, bias, eps, out);
}

taper_status taper_cpu_layer_norm(taper_call *call);
taper_status taper_cpu_layer_norm(taper_call *call)
{
    return norm(call, false);
}

taper_status taper_cpu_rms_norm(taper_call *call);
taper_status taper_cpu_rms_norm(taper_call *call)
{
    return norm(call, true);
}
