// SPDX-License-Identifier: BSD-2-Clause
// Operators that compute halves as floats, and round only their results (TAPER_OP_HALVES). Their loops are for floats.
#ifndef TAPER_OPS_THROUGH_FLOATS_H
#define TAPER_OPS_THROUGH_FLOATS_H

#include "ops/call/call.h"
#include "ops/list/op_features.h"

static inline bool taper_is_half(const taper_val *value)
{
    return value->tag == TAPER_TENSOR &&
           (value->as.tensor->dtype == TAPER_BF16 || value->as.tensor->dtype == TAPER_F16);
}

// Returns true if argument 0 is a tensor of halves that the operator computes as floats.
static inline bool taper_call_has_halves(const taper_call *call)
{
#if TAPER_HAS_OP(linear_halves) // false in builds for models without halves
    return call->arg_count != 0 && taper_is_half(&call->args[0]) && taper_op_has(call->op, TAPER_OP_HALVES) &&
           !call->run->portable;
#else
    (void)call;
    return false;
#endif
}

// Runs the kernel on float copies of all halves, and rounds its float results to the dtype of argument 0. Calls that
// write to an argument, or that ask for a dtype, run on the halves themselves.
TAPER_MUST_USE taper_status taper_call_through_floats(taper_call *call, taper_kernel kernel);

#endif
