// SPDX-License-Identifier: BSD-2-Clause
// taper::linear_integers: a fully connected layer whose weights are integers with a scale for each group of inputs.
// Only the compiler makes it (compiler/narrow_weights.c), from several operators that an exporter wrote for the layer.
#ifndef TAPER_OPS_LINEAR_INTEGERS_H
#define TAPER_OPS_LINEAR_INTEGERS_H

#include "ops/call/call.h"

// The value of a weight is (integer - zero point) * scale. All tensors are borrowed.
typedef struct taper_linear_integers_args {
    taper_tensor *input;  // float32, bfloat16 or float16, of at least one dimension
    taper_tensor *weight; // int8 [out, in], any strides
    taper_tensor *scale;  // float32, bfloat16 or float16 [out, groups], contiguous; NULL if all scales are 1
    taper_tensor *point;  // zero points, with the sizes and the dtype of scale; NULL if all zero points are 0
    taper_tensor *bias;   // [out], with the dtype of the input; NULL if there is no bias
    bool nibbles;         // true if the exporter says that all weights are from -8 to 7, which is not checked
    int64_t in, out, group;
    int64_t out_sizes[TAPER_MAX_RANK]; // sizes of the result, which has the input's rank
} taper_linear_integers_args;

// Reads and checks the arguments of a call. in, out and group are positive, and group divides in.
TAPER_MUST_USE taper_status taper_linear_integers_parse(taper_call *call, taper_linear_integers_args *args);

#endif
