// SPDX-License-Identifier: BSD-2-Clause
// Packed parameters of quantized layers. They remain as the file stores them: an object of a class of torch.classes
// whose slot 0 is its pickled state, in any version that PyTorch wrote:
//   LinearPackedParamsBase         (weight int8, or float32 of a half-precision layer; bias or None)
//   Conv2d/Conv3dPackedParamsBase  1: (weight, bias or None, [stride…], [padding…], [dilation…], groups),
//                                     with tensors of one int
//                                  2: ("2", [config int16, weight], [bias or None])
//                                  3: (3, [config…], [None, weight, bias or None])
//     config: spatial dimensions k, k strides, k paddings, k dilations, k output paddings, groups, 1 if transposed;
//     a 1-D convolution is stored as a 2-D convolution with height 1
//   EmbeddingPackedParamsBase      (1, [weight], [], [bits])
// These functions read such a state and check everything in it, so the reference code and the backends may rely on the
// result. All pointers are borrowed from the object.
#ifndef TAPER_OPS_QUANTIZED_PARAMS_H
#define TAPER_OPS_QUANTIZED_PARAMS_H

#include "ops/nn/conv.h"
#include "ops/quantized/quantized.h"

typedef struct taper_qlinear_params {
    taper_tensor *weight; // weight [out, in]: qint8, or float32 of a half-precision layer; not hidden NHWC
    taper_tensor *bias;   // bias, float32 [out], any stride; or NULL
    int64_t out, in;
    bool half;
} taper_qlinear_params;

typedef struct taper_qconv_params {
    // The weight: qint8 [out, in / groups, kernel…], or if transposed [in, out / groups, kernel…]. No size is 0.
    taper_tensor *weight;
    taper_tensor *bias;     // bias, float32 [out], any stride; or NULL
    taper_conv_params conv; // parameters of the convolution; rank 2 or 3; padding_end equals padding
    int64_t out, in;        // numbers of output and input channels
} taper_qconv_params;

typedef struct taper_qembedding_params {
    taper_tensor *weight; // contiguous quint8 [rows, columns], with a float scale and zero point per row
    int bits; // bits per element: 8, or 4 for elements from 0 to 15, which the readers extended to a byte each
} taper_qembedding_params;

TAPER_MUST_USE taper_status taper_qlinear_open(taper_run *run, taper_object *object, taper_qlinear_params *params);
// Reads the packed parameters in object. rank is 2 or 3 to require an object of Conv2d or Conv3d, or 0 to accept either
// of them.
TAPER_MUST_USE taper_status taper_qconv_open(taper_run *run, taper_object *object, size_t rank,
                                             taper_qconv_params *params);
TAPER_MUST_USE taper_status taper_qembedding_open(taper_run *run, taper_object *object,
                                                  taper_qembedding_params *params);
// These functions read argument `at` as packed parameters. If the argument has a wrong kind, the message names the
// argument.
TAPER_MUST_USE taper_status taper_arg_qlinear(const taper_call *call, size_t at, taper_qlinear_params *params);
TAPER_MUST_USE taper_status taper_arg_qconv(const taper_call *call, size_t at, size_t rank, taper_qconv_params *params);

// Computes the conv.rank + 2 sizes of the result for an input of these sizes.
TAPER_MUST_USE taper_status taper_qconv_sizes(taper_run *run, const taper_qconv_params *params,
                                              const taper_tensor *input, int64_t *sizes);

// ---- quantizers of weights

// Fails unless weight has dtype, is quantized per tensor or along axis, and every scale and zero point is usable.
TAPER_MUST_USE taper_status taper_qweight_check(taper_run *run, const taper_tensor *weight, taper_dtype dtype,
                                                int64_t axis, const char *name);
// These functions return the scale or zero point of one index along a per-channel quantizer's axis, or of the whole
// tensor. The weights must be checked already.
double taper_qweight_scale(const taper_tensor *weight, int64_t channel);
int64_t taper_qweight_zero_point(const taper_tensor *weight, int64_t channel);

// The conversion of one output channel's sum: the sum of (x - x_zero_point) * (w - zero_point), plus bias, times
// multiplier.
typedef struct taper_q_channel {
    int32_t zero_point; // zero point of the channel's weights
    int32_t bias;       // bias in units of the sum; 0 if out_scale is 0
    float multiplier;
} taper_q_channel;

// Fills `count` channels, in the order of the result's channels. Fails if a multiplier is not positive and normal. If
// out_scale is 0, the layer is dynamic, and its bias is added as a float after the multiplication.
TAPER_MUST_USE taper_status taper_q_channels(taper_run *run, const taper_tensor *weight, const taper_tensor *bias,
                                             int64_t count, double in_scale, double out_scale,
                                             taper_q_channel *channels);

// ---- making objects, as the prepack operators do
// Convolutions are made in version 3. The objects retain the tensors.
TAPER_MUST_USE taper_status taper_qlinear_make(taper_run *run, taper_tensor *weight, taper_tensor *bias,
                                               taper_object **object);
TAPER_MUST_USE taper_status taper_qconv_make(taper_run *run, taper_tensor *weight, taper_tensor *bias,
                                             const taper_conv_params *conv, taper_object **object);
TAPER_MUST_USE taper_status taper_qembedding_make(taper_run *run, taper_tensor *weight, taper_object **object);

// ---- states, for the classes that other files read
typedef struct taper_q_state {
    const char *name; // name of the class, for messages
    const taper_val *items;
    size_t count;
} taper_q_state;

// Fails unless object is of class `name` ("quantized.LinearPackedParamsBase") and its slot 0 is a tuple or list of at
// least `least` items.
TAPER_MUST_USE taper_status taper_q_state_open(taper_run *run, const taper_object *object, const char *name,
                                               size_t least, taper_q_state *state);
bool taper_q_class_is(const taper_object *object, const char *name);
// Fails with "item 2 of the state of C should be EXPECTED but is a dict".
taper_status taper_q_state_wrong(taper_run *run, const taper_q_state *state, size_t at, const char *expected);

// Makes a list of the values. Takes over their references, also on failure.
TAPER_MUST_USE taper_status taper_q_list(taper_run *run, const taper_type *element, const taper_val *values,
                                         size_t count, taper_val *result);

#endif
