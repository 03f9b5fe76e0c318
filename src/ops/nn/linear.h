// SPDX-License-Identifier: BSD-2-Clause
// Linear layers: what a call asks for, whichever schema it came by.
#ifndef TAPER_OPS_LINEAR_H
#define TAPER_OPS_LINEAR_H

#include "ops/call/call.h"

typedef struct taper_linear_args {
    taper_tensor *input, *weight, *bias; // borrowed; bias may be NULL
    bool weight_is_in_out; // [in, out] (Vulkan's), otherwise [out, in], or [in] for a result without the last dimension
    bool clamped;
    double min, max; // -inf and inf where there is no bound
    size_t out_rank;
    int64_t out_sizes[TAPER_MAX_RANK];
} taper_linear_args;

// Reads and checks the arguments of aten::linear and of prepacked::, vulkan_prepack:: and metal_prepack:: runs of
// linear layers. The result is contiguous.
TAPER_MUST_USE taper_status taper_linear_parse(taper_call *call, taper_linear_args *out);

#endif
