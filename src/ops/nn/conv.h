// SPDX-License-Identifier: BSD-2-Clause
// Convolutions: what a call asks for, whichever schema it came by, and the reference that computes it. Backends parse
// and check with the same functions, so that messages and result layouts are decided in one place.
#ifndef TAPER_OPS_CONV_H
#define TAPER_OPS_CONV_H

#include "ops/call/call.h"

enum { TAPER_CONV_RANK = 3 }; // most spatial dimensions

typedef struct taper_conv_params {
    size_t rank; // spatial dimensions: 1, 2 or 3
    bool transposed;
    int64_t groups;
    int64_t stride[TAPER_CONV_RANK];
    int64_t padding[TAPER_CONV_RANK];     // before the first element
    int64_t padding_end[TAPER_CONV_RANK]; // behind the last; differs from padding for 'same' with an even kernel
    int64_t dilation[TAPER_CONV_RANK];
    int64_t output_padding[TAPER_CONV_RANK]; // of transposed ones
} taper_conv_params;

// The param of the rows of convolutions, as most of PyTorch's are for one number of dimensions. Forms for `any` take no
// input without a batch, and say by an argument whether they are transposed.
typedef struct taper_conv_form {
    uint8_t rank; // 0: the weight says
    bool transposed;
    bool depthwise; // as many groups as channels; there is no argument for them
} taper_conv_form;
extern const taper_conv_form taper_conv_any, taper_conv_1d, taper_conv_2d, taper_conv_3d, taper_conv_transposed_1d,
    taper_conv_transposed_2d, taper_conv_transposed_3d, taper_conv_depthwise_2d, taper_conv_depthwise_3d;

typedef struct taper_conv_args {
    taper_tensor *input, *weight, *bias; // borrowed; bias may be NULL
    taper_conv_params params;
    bool unbatched;     // input and result have no batch dimension
    bool clamped;       // prepacked forms
    bool follows_input; // XNNPACK's: the result has the memory format of the input, whatever the weight's is
    double min, max;    // -inf and inf where there is no bound
    size_t out_rank;    // of the result
    int64_t out_sizes[TAPER_CONV_RANK + 2];
    // PyTorch's result has channels-last strides (in an unbatched result: those without the first).
    bool out_channels_last;
    bool out_hidden; // PyTorch's is contiguous, ours is to be hidden NHWC because the input is
} taper_conv_args;

// Reads and checks the arguments of conv1d/2d/3d and their .padding forms, conv_transpose1d/2d/3d, convolution,
// _convolution and its deprecated form, _convolution_mode, convolution_overrideable, thnn_conv2d and the slow_conv
// family, and of prepacked::, vulkan_prepack:: and metal_prepack:: runs of convolutions.
TAPER_MUST_USE taper_status taper_conv_parse(taper_call *call, taper_conv_args *out);
// Checks input, weight and bias against params and computes the sizes of the batched result (rank + 2 of them). input
// may lack the batch dimension, which then counts as 1.
TAPER_MUST_USE taper_status taper_conv_check(taper_call *call, const taper_tensor *input, const taper_tensor *weight,
                                             const taper_tensor *bias, const taper_conv_params *params,
                                             int64_t *out_sizes);
// The sizes of the result's spatial dimensions (params->rank of them) for those of the input; what is in params is
// checked already.
TAPER_MUST_USE taper_status taper_conv_check_space(taper_error *error, const int64_t *in, const taper_tensor *weight,
                                                   const taper_conv_params *params, int64_t *out);
// Fills out_rank, out_sizes and the layout from the other fields, after taper_conv_check.
TAPER_MUST_USE taper_status taper_conv_finish(taper_call *call, taper_conv_args *args);
// The result tensor of the call, with the layout decided above.
TAPER_MUST_USE taper_status taper_conv_result(taper_call *call, const taper_conv_args *args, taper_tensor **result);

// Whether each element of the result is of the one at its place in all channels.
static inline bool taper_conv_is_pixels(const taper_conv_args *args)
{
    for (size_t i = 0; i < args->params.rank; i++) {
        if (args->weight->sizes[2 + i] != 1 || args->params.stride[i] != 1 || args->params.padding[i] != 0 ||
            args->params.padding_end[i] != 0) {
            return false;
        }
    }
    return !args->params.transposed;
}

// The reference: computes into result, which has the sizes of args in any strides and the dtype of the input.
TAPER_MUST_USE taper_status taper_conv_compute(taper_run *run, const taper_conv_args *args, taper_tensor *result);
// parse, result, compute.
TAPER_MUST_USE taper_status taper_conv_reference(taper_call *call);

#endif
