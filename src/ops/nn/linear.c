// SPDX-License-Identifier: BSD-2-Clause
// aten::linear and what prepared files have in its place.
#include "ops/nn/linear.h"

#include <math.h>

#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

static void clamp_all(taper_tensor *result, double min, double max)
{
    const int64_t count = taper_tensor_numel(result);
    if (result->dtype == TAPER_F32) {
        float *y = taper_tensor_mutable(result);
        const float low = (float)min, high = (float)max;
        for (int64_t i = 0; i < count; i++) {
            y[i] = y[i] < low ? low : y[i] > high ? high : y[i];
        }
    } else if (result->dtype == TAPER_F64) {
        double *y = taper_tensor_mutable(result);
        for (int64_t i = 0; i < count; i++) {
            y[i] = y[i] < min ? min : y[i] > max ? max : y[i];
        }
    }
}

taper_status taper_linear_compute(taper_run *run, const taper_linear_args *args, taper_tensor **result)
{
    taper_tensor *made = NULL;
    taper_tensor weight =
        taper_tensor_twin(args->weight, args->weight->rank, args->weight->sizes, args->weight->strides);
    if (weight.rank == 2 && !args->weight_is_in_out) {
        weight = taper_tensor_twin_t(&weight);
    }
    TAPER_TRY(taper_matmul_new(run, args->input, &weight, &made));
    taper_status status = TAPER_OK;
    if (args->bias != NULL) {
        status = taper_product_combine(run, made, args->bias, taper_scalar_one(), taper_scalar_one());
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(made);
        return status;
    }
    if (args->clamped) {
        clamp_all(made, args->min, args->max);
    }
    *result = made;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_linear)
{
    taper_linear_args args;
    taper_tensor *result = NULL;
    TAPER_TRY(taper_linear_parse(call, &args));
    TAPER_TRY(taper_linear_compute(call->run, &args, &result));
    return taper_ret_cast(call, 0, result, (taper_dtype)args.input->dtype);
}
