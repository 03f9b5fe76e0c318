// SPDX-License-Identifier: BSD-2-Clause
// Linear layers: the arguments of a call of any schema.
#ifndef TAPER_OPS_LINEAR_H
#define TAPER_OPS_LINEAR_H

#include "ops/call/call.h"

typedef struct taper_linear_args {
    taper_tensor *input, *weight, *bias; // borrowed tensors; bias may be NULL
    // True if weight is [in, out], as in Vulkan's operators. Otherwise it is [out, in], or [in] for a result without
    // the last dimension.
    bool weight_is_in_out;
    bool clamped;
    double min, max; // bounds of the result; -inf and inf if there is none
    size_t out_rank;
    int64_t out_sizes[TAPER_MAX_RANK];
} taper_linear_args;

// Reads and checks the arguments of aten::linear, and of the operators of prepacked::, vulkan_prepack:: and
// metal_prepack:: that run a linear layer. The result is contiguous.
TAPER_MUST_USE taper_status taper_linear_parse(taper_call *call, taper_linear_args *out);

#endif
