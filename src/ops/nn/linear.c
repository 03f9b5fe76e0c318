// SPDX-License-Identifier: BSD-2-Clause
// aten::linear, and the operators that replace it in prepared files.
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

// Computes input weight' + bias, clamped, as a new contiguous tensor in the working dtype of the input.
static taper_status compute(taper_run *run, const taper_linear_args *args, taper_tensor **result)
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
    TAPER_TRY(compute(call->run, &args, &result));
    return taper_ret_cast(call, 0, result, (taper_dtype)args.input->dtype);
}

TAPER_KERNEL(taper_op_prepacked_linear)
{
    taper_linear_args args;
    taper_tensor *result = NULL;
    TAPER_TRY(taper_linear_parse(call, &args));
    TAPER_TRY(compute(call->run, &args, &result));
    if (args.weight_is_in_out || args.input->rank < 4 || !taper_tensor_suggests_channels_last(args.input)) {
        return taper_ret_cast(call, 0, result, (taper_dtype)args.input->dtype);
    }
    // XNNPACK's result has the memory format of the input.
    taper_tensor *turned = NULL;
    taper_status status =
        taper_ret_new_nhwc(call, 0, (taper_dtype)args.input->dtype, args.out_rank, args.out_sizes, false, &turned);
    if (status == TAPER_OK) {
        status = taper_run_copy(call->run, turned, result);
    }
    taper_tensor_drop(result);
    return status;
}
