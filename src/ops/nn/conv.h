// SPDX-License-Identifier: BSD-2-Clause
// Convolutions: the arguments of a call of any schema, and the reference that computes it. Backends use the same
// functions to read and check arguments, so error messages and result layouts are decided in one place.
#ifndef TAPER_OPS_CONV_H
#define TAPER_OPS_CONV_H

#include "ops/call/call.h"

enum { TAPER_CONV_RANK = 3 }; // largest number of spatial dimensions

typedef struct taper_conv_params {
    size_t rank; // number of spatial dimensions: 1, 2 or 3
    bool transposed;
    int64_t groups;
    int64_t stride[TAPER_CONV_RANK];
    int64_t padding[TAPER_CONV_RANK]; // padding before the first element, in elements
    // Padding after the last element, in elements. This number differs from `padding` for 'same' with an even kernel.
    int64_t padding_end[TAPER_CONV_RANK];
    int64_t dilation[TAPER_CONV_RANK];
    int64_t output_padding[TAPER_CONV_RANK]; // argument output_padding of transposed convolutions
} taper_conv_params;

// The parameter of convolution operators. Most of PyTorch's convolutions have a fixed number of dimensions. The other
// operators (taper_conv_any) take only batched inputs and have an argument for `transposed`.
typedef struct taper_conv_form {
    uint8_t rank; // number of spatial dimensions, or 0 if the rank of the weight gives this number
    bool transposed;
    bool depthwise; // true if the number of groups is the number of channels and not an argument
} taper_conv_form;
extern const taper_conv_form taper_conv_any, taper_conv_1d, taper_conv_2d, taper_conv_3d, taper_conv_transposed_1d,
    taper_conv_transposed_2d, taper_conv_transposed_3d, taper_conv_depthwise_2d, taper_conv_depthwise_3d;

typedef struct taper_conv_args {
    taper_tensor *input, *weight, *bias; // borrowed tensors; bias may be NULL
    taper_conv_params params;
    bool unbatched;     // true if input and result have no batch dimension
    bool clamped;       // true if min and max apply (prepacked operators)
    bool follows_input; // true for XNNPACK: the result has the memory format of the input, for any format of the weight
    double min, max;    // bounds of the result; -inf and inf if there is none
    size_t out_rank;    // rank of the result
    int64_t out_sizes[TAPER_CONV_RANK + 2];
    // True if PyTorch's result has channels-last strides. An unbatched result has these strides without the batch
    // dimension.
    bool out_channels_last;
    // True if PyTorch's result is contiguous but Taper stores it as hidden NHWC, because the input is hidden NHWC.
    bool out_hidden;
} taper_conv_args;

// Reads and checks the arguments of a convolution: conv1d/2d/3d and their .padding overloads, conv_transpose1d/2d/3d,
// convolution, _convolution and its deprecated overload, _convolution_mode, convolution_overrideable, thnn_conv2d and
// the slow_conv operators. It also reads the arguments of the operators of prepacked::, vulkan_prepack:: and
// metal_prepack:: that run a convolution. The tensors in *out are borrowed from the call.
TAPER_MUST_USE taper_status taper_conv_parse(taper_call *call, taper_conv_args *out);
// Checks input, weight and bias against params, and computes the rank + 2 sizes of the batched result. If input has no
// batch dimension, its batch size is 1.
TAPER_MUST_USE taper_status taper_conv_check(taper_call *call, const taper_tensor *input, const taper_tensor *weight,
                                             const taper_tensor *bias, const taper_conv_params *params,
                                             int64_t *out_sizes);
// Computes the params->rank spatial sizes of the result from the spatial sizes of the input. params must be checked
// already.
TAPER_MUST_USE taper_status taper_conv_check_space(taper_error *error, const int64_t *in, const taper_tensor *weight,
                                                   const taper_conv_params *params, int64_t *out);
// Fills out_rank, out_sizes and the layout from the other fields. taper_conv_check must have succeeded.
TAPER_MUST_USE taper_status taper_conv_finish(taper_call *call, taper_conv_args *args);
// Makes result 0 of the call with the layout in args.
TAPER_MUST_USE taper_status taper_conv_result(taper_call *call, const taper_conv_args *args, taper_tensor **result);

// Returns true if each element of the result depends only on the pixel at its own position, as in a 1x1 convolution.
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

// Computes the convolution into result, which has args->out_sizes, any strides, and the dtype of the input.
TAPER_MUST_USE taper_status taper_conv_compute(taper_run *run, const taper_conv_args *args, taper_tensor *result);
// Reads the arguments, makes the result, and computes it with taper_conv_compute.
TAPER_MUST_USE taper_status taper_conv_reference(taper_call *call);

#endif
