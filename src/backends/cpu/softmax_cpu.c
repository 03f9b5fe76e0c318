// SPDX-License-Identifier: BSD-2-Clause
// softmax and log_softmax over the last dimension of contiguous floats.
#include "ops/engine/rows.h"
#include "ops/list/kernels.h"

static taper_status softmax(taper_call *call, bool has_dtype, bool logarithm)
{
    taper_tensor *x, *y;
    size_t dim;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    taper_dtype dtype = (taper_dtype)x->dtype;
    if (has_dtype) {
        TAPER_TRY(taper_arg_dtype_or(call, 2, dtype, &dtype));
    } else {
        bool half_to_float;
        TAPER_TRY(taper_arg_bool(call, 2, &half_to_float));
        if (half_to_float) {
            return TAPER_DECLINED;
        }
    }
    if (x->dtype != TAPER_F32 || dtype != TAPER_F32 || x->hidden_nhwc || x->rank == 0 || dim != x->rank - 1u ||
        !taper_tensor_is_contiguous(x) || taper_tensor_numel(x) == 0 || taper_ret_target(call, 0) != NULL) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, x->rank, x->sizes, NULL, &y));
    const size_t width = (size_t)x->sizes[dim], rows = (size_t)taper_tensor_numel(x) / width;
    return taper_rows_softmax(call->run, logarithm, rows, width, taper_tensor_data(x), taper_tensor_mutable(y));
}

taper_status taper_cpu_softmax(taper_call *call);
taper_status taper_cpu_softmax(taper_call *call)
{
    return softmax(call, true, false);
}

taper_status taper_cpu_log_softmax(taper_call *call);
taper_status taper_cpu_log_softmax(taper_call *call)
{
    return softmax(call, true, true);
}

taper_status taper_cpu_softmax_inner(taper_call *call);
taper_status taper_cpu_softmax_inner(taper_call *call)
{
    return softmax(call, false, false);
}

taper_status taper_cpu_log_softmax_inner(taper_call *call);
taper_status taper_cpu_log_softmax_inner(taper_call *call)
{
    return softmax(call, false, true);
}
