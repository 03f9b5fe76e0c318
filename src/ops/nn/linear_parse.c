// SPDX-License-Identifier: BSD-2-Clause
// Reads the arguments of a linear layer, for any schema.
#include "ops/nn/linear.h"

#include <math.h>

#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/nn/prepacked.h"

taper_status taper_linear_parse(taper_call *call, taper_linear_args *out)
{
    taper_error *error = call->run->error;
    memset(out, 0, sizeof *out);
    out->min = -INFINITY;
    out->max = INFINITY;
    if (call->arg_count >= 2 && call->args[1].tag == TAPER_OBJECT) {
        TAPER_TRY(taper_prepacked_linear_parse(call, out));
    } else {
        TAPER_TRY(taper_arg_tensor(call, 0, &out->input));
        TAPER_TRY(taper_arg_tensor(call, 1, &out->weight));
        TAPER_TRY(taper_arg_tensor_or_none(call, 2, &out->bias));
    }
    const taper_tensor *input = out->input, *weight = out->weight;
    TAPER_TRY(taper_check_product_dtype(call, input, call->schema->args[0].name));
    if (weight->rank != 1 && weight->rank != 2) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "weight should be a matrix or a vector, its sizes are %s",
                   TAPER_SHAPE(weight));
    }
    if (input->rank == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "both arguments to matmul need to be at least 1D, but they are 0D and %uD", weight->rank);
    }
    if (input->dtype != weight->dtype || (out->bias != NULL && out->bias->dtype != input->dtype)) {
        TAPER_FAIL(
            error, TAPER_ERROR_ARGUMENT, "expected scalar type %s but found %s",
            taper_dtype_torch_name((taper_dtype)input->dtype),
            taper_dtype_torch_name((taper_dtype)(input->dtype != weight->dtype ? weight->dtype : out->bias->dtype)));
    }
    const int64_t in = weight->sizes[weight->rank == 1 || out->weight_is_in_out ? 0 : 1];
    if (input->sizes[input->rank - 1u] != in) {
        int64_t rows = 1;
        for (size_t i = 0; i + 1 < input->rank; i++) {
            rows *= input->sizes[i];
        }
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                   (long long)rows, (long long)input->sizes[input->rank - 1u], (long long)in,
                   (long long)(weight->rank == 2 ? weight->sizes[0] : 1));
    }
    out->out_rank = input->rank - (weight->rank == 1 ? 1u : 0u);
    memcpy(out->out_sizes, input->sizes, input->rank * sizeof *input->sizes);
    if (weight->rank == 2) {
        out->out_sizes[out->out_rank - 1] = weight->sizes[out->weight_is_in_out ? 1 : 0];
    }
    int64_t strides[TAPER_MAX_RANK];
    if (out->bias != NULL && !taper_broadcast_strides(out->bias, out->out_rank, out->out_sizes, strides)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "bias of sizes %s does not expand to the result's sizes %s",
                   TAPER_SHAPE(out->bias), taper_shape_print(out->out_rank, out->out_sizes).text);
    }
    return TAPER_OK;
}
