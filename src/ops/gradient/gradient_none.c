// SPDX-License-Identifier: BSD-2-Clause
// The operators that ask for gradients, in a build without gradients.
#include "ops/call/call.h"

TAPER_KERNEL(taper_op_tensor_grad)
{
    taper_ret(call, 0, taper_val_none());
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tensor_requires_grad)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_bool(tensor->requires_grad));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_is_leaf)
{
    taper_ret(call, 0, taper_val_bool(true));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_set_grad_enabled)
{
    (void)call;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_is_grad_enabled)
{
    taper_ret(call, 0, taper_val_bool(false));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_detach_)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    tensor->requires_grad = false;
    taper_ret(call, 0, taper_val_retain(call->args[0]));
    return TAPER_OK;
}
