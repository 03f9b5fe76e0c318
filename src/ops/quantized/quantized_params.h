// SPDX-License-Identifier: BSD-2-Clause
// Packed parameters of quantized layers. They stay what the file holds: an object of a class of torch.classes whose
// slot 0 is its pickled state, in any of the versions that PyTorch wrote:
//   LinearPackedParamsBase         (weight int8, or float32 of a half-precision layer; bias or None)
//   Conv2d/Conv3dPackedParamsBase  1: (weight, bias or None, [stride…], [padding…], [dilation…], groups), tensors of
//   one int
//                                  2: ("2", [config int16, weight], [bias or None])
//                                  3: (3, [config…], [None, weight, bias or None])
//     config: spatial dimensions k, k strides, k paddings, k dilations, k output paddings, groups, 1 if transposed;
//     a convolution over one dimension is one over two with height 1
//   EmbeddingPackedParamsBase      (1, [weight], [], [bits])
// The functions here read such a state and check everything in it, so that whoever computes (these references, the
// backends) may trust the result. All pointers are borrowed from the object.
#ifndef TAPER_OPS_QUANTIZED_PARAMS_H
#define TAPER_OPS_QUANTIZED_PARAMS_H

#include "ops/nn/conv.h"
#include "ops/quantized/quantized.h"

typedef struct taper_qlinear_params {
    taper_tensor *weight; // [out, in]: qint8, or float32 of a half-precision layer; not hidden NHWC
    taper_tensor *bias;   // float32 [out], any stride; NULL: none
    int64_t out, in;
    bool half;
} taper_qlinear_params;

typedef struct taper_qconv_params {
    taper_tensor *weight; // qint8 [out, in / groups, kernel…], transposed [in, out / groups, kernel…]; no size is 0
    taper_tensor *bias;   // float32 [out], any stride; NULL: none
    taper_conv_params conv; // rank 2 or 3; padding_end equals padding
    int64_t out, in;        // channels
} taper_qconv_params;

typedef struct taper_qembedding_params {
    taper_tensor *weight; // quint8 [rows, columns], contiguous, a float scale and zero point for each row
    int bits;             // 8, or 4: elements from 0 to 15, a byte each, which the readers widened
} taper_qembedding_params;

TAPER_MUST_USE taper_status taper_qlinear_open(taper_run *run, taper_object *object, taper_qlinear_params *params);
// rank: 2 or 3, the class wanted; 0: either.
TAPER_MUST_USE taper_status taper_qconv_open(taper_run *run, taper_object *object, size_t rank,
                                             taper_qconv_params *params);
TAPER_MUST_USE taper_status taper_qembedding_open(taper_run *run, taper_object *object,
                                                  taper_qembedding_params *params);
// Argument `at`, with the name of the argument before what is wrong with its kind.
TAPER_MUST_USE taper_status taper_arg_qlinear(const taper_call *call, size_t at, taper_qlinear_params *params);
TAPER_MUST_USE taper_status taper_arg_qconv(const taper_call *call, size_t at, size_t rank, taper_qconv_params *params);

// The sizes of the result (conv.rank + 2) for an input of these sizes.
TAPER_MUST_USE taper_status taper_qconv_sizes(taper_run *run, const taper_qconv_params *params,
                                              const taper_tensor *input, int64_t *sizes);

// ---- quantizers

// Fails unless weight has dtype, is quantized per tensor or along axis, and every scale and zero point is usable.
TAPER_MUST_USE taper_status taper_qweight_check(taper_run *run, const taper_tensor *weight, taper_dtype dtype,
                                                int64_t axis, const char *name);
// Of one index along a per-channel quantizer's axis, or of the whole tensor; for weights that were checked.
double taper_qweight_scale(const taper_tensor *weight, int64_t channel);
int64_t taper_qweight_zero_point(const taper_tensor *weight, int64_t channel);

// What a layer does with the sum of one output channel: the sum of (x - x_zero_point) * (w - zero_point), plus bias,
// times multiplier.
typedef struct taper_q_channel {
    int32_t zero_point; // of the channel's weights
    int32_t bias;       // in units of the sum; 0 where out_scale was 0
    float multiplier;
} taper_q_channel;

// Fills `count` channels, in the order of the result's. Fails when a multiplier is not positive and normal. out_scale
// 0: of dynamic layers, whose bias is added in float after the multiplication.
TAPER_MUST_USE taper_status taper_q_channels(taper_run *run, const taper_tensor *weight, const taper_tensor *bias,
                                             int64_t count, double in_scale, double out_scale,
                                             taper_q_channel *channels);

// ---- making objects, as the prepack operators do. They hold version 3 (convolutions), and take their own references.
TAPER_MUST_USE taper_status taper_qlinear_make(taper_run *run, taper_tensor *weight, taper_tensor *bias,
                                               taper_object **object);
TAPER_MUST_USE taper_status taper_qconv_make(taper_run *run, taper_tensor *weight, taper_tensor *bias,
                                             const taper_conv_params *conv, taper_object **object);
TAPER_MUST_USE taper_status taper_qembedding_make(taper_run *run, taper_tensor *weight, taper_object **object);

// ---- states, for the classes that other files read
typedef struct taper_q_state {
    const char *name; // of the class, for messages
    const taper_val *items;
    size_t count;
} taper_q_state;

// Fails unless object is of class `name` ("quantized.LinearPackedParamsBase") and its slot 0 is a tuple or list of at
// least `least` items.
TAPER_MUST_USE taper_status taper_q_state_open(taper_run *run, const taper_object *object, const char *name,
                                               size_t least, taper_q_state *state);
bool taper_q_class_is(const taper_object *object, const char *name);
// "item 2 of the state of C should be EXPECTED but is a dict"
taper_status taper_q_state_wrong(taper_run *run, const taper_q_state *state, size_t at, const char *expected);

// A list of values, whose references pass over, also on failure.
TAPER_MUST_USE taper_status taper_q_list(taper_run *run, const taper_type *element, const taper_val *values,
                                         size_t count, taper_val *result);

#endif
