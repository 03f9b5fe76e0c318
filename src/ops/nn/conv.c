// SPDX-License-Identifier: BSD-2-Clause
// Convolution operators. taper_conv_parse reads the arguments of each of them except conv_tbc.
#include "ops/nn/conv.h"

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

TAPER_KERNEL(taper_op_conv)
{
    return taper_conv_reference(call);
}

// Computes conv_tbc of input [time, batch, in] and weight [kernel, in, out]: a conv1d with permuted dimensions.
TAPER_KERNEL(taper_op_conv_tbc)
{
    taper_tensor *input, *weight, *bias, *result = NULL;
    int64_t pad;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_tensor(call, 1, &weight));
    TAPER_TRY(taper_arg_tensor(call, 2, &bias));
    TAPER_TRY(taper_arg_int(call, 3, &pad));
    if (input->rank != 3) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Input must have 3 dims: time, batch, in_channel");
    }
    if (weight->rank != 3) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
    }
    if (bias->rank != 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Bias must be 1-D");
    }
    if (input->sizes[2] != weight->sizes[1]) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
    }
    taper_tensor x = taper_tensor_twin(input, 3, (const int64_t[]){input->sizes[1], input->sizes[2], input->sizes[0]},
                                       (const int64_t[]){input->strides[1], input->strides[2], input->strides[0]});
    taper_tensor w =
        taper_tensor_twin(weight, 3, (const int64_t[]){weight->sizes[2], weight->sizes[1], weight->sizes[0]},
                          (const int64_t[]){weight->strides[2], weight->strides[1], weight->strides[0]});
    taper_conv_args args = {.input = &x, .weight = &w, .bias = bias, .out_rank = 3};
    args.params = (taper_conv_params){
        .rank = 1, .groups = 1, .stride = {1}, .padding = {pad}, .padding_end = {pad}, .dilation = {1}};
    TAPER_TRY(taper_conv_check(call, &x, &w, bias, &args.params, args.out_sizes));
    const int64_t *out = args.out_sizes;
    TAPER_TRY(taper_tensor_new(call->run->heap, (taper_dtype)input->dtype, 3, (const int64_t[]){out[2], out[0], out[1]},
                               NULL, &result, error));
    taper_tensor y = taper_tensor_twin(result, 3, out,
                                       (const int64_t[]){result->strides[1], result->strides[2], result->strides[0]});
    const taper_status status = taper_conv_compute(call->run, &args, &y);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}
