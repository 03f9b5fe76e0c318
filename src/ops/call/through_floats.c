// SPDX-License-Identifier: BSD-2-Clause
// Runs operators on float copies of halves (through_floats.h). Converting takes less time than one pass of a generic
// loop, and PyTorch's kernels for these operators also compute with floats and round once.
#include "ops/call/through_floats.h"

#include "ir/tensor.h"

enum { MOST_ARGS = 12, MOST_RESULTS = 4 };

// Copies the tensor to a tensor of another floating-point dtype with the same layout.
static taper_status convert(taper_run *run, const taper_tensor *from, taper_dtype dtype, taper_tensor **to)
{
    const int64_t *strides = taper_tensor_is_dense(from) ? from->strides : NULL;
    TAPER_TRY(taper_tensor_new(run->heap, dtype, from->rank, from->sizes, strides, to, run->error));
    (*to)->hidden_nhwc = from->hidden_nhwc; // a tensor in hidden NHWC is dense, so the copy has the same strides
    const taper_status status = taper_run_copy(run, *to, from);
    if (status != TAPER_OK) {
        taper_obj_release(&(*to)->head);
        *to = NULL;
    }
    return status;
}

// Returns true if the call only creates new results, and their dtype follows from argument 0.
static bool is_plain(const taper_call *call)
{
    if (call->arg_count > MOST_ARGS || call->ret_count > MOST_RESULTS || call->schema == NULL ||
        (taper_op_has(call->op, TAPER_OP_STATISTICS) && call->arg_count > 5 && call->args[5].tag == TAPER_BOOLEAN &&
         call->args[5].as.b)) {
        return false;
    }
    for (size_t i = 0; i < call->ret_count; i++) {
        if (taper_ret_argument(call, i) != NULL) {
            return false;
        }
    }
    for (size_t i = 1; i < call->arg_count; i++) {
        const char *name = taper_arg_name(call, i);
        if ((strcmp(name, "dtype") == 0 && call->args[i].tag != TAPER_NONE) ||
            (strcmp(name, "half_to_float") == 0 && call->args[i].tag == TAPER_BOOLEAN && call->args[i].as.b)) {
            return false;
        }
    }
    return true;
}

// Replaces float results by results of this dtype. Other results, such as indices, do not change.
static taper_status round_results(taper_call *call, taper_dtype dtype)
{
    for (size_t i = 0; i < call->ret_count; i++) {
        taper_tensor *rounded;
        if (call->rets[i].tag != TAPER_TENSOR || call->rets[i].as.tensor->dtype != TAPER_F32) {
            continue;
        }
        TAPER_TRY(convert(call->run, call->rets[i].as.tensor, dtype, &rounded));
        taper_val_replace(&call->rets[i], TAPER_VAL(rounded));
    }
    return TAPER_OK;
}

taper_status taper_call_through_floats(taper_call *call, taper_kernel kernel)
{
    if (!is_plain(call)) {
        return kernel(call);
    }
    taper_val args[MOST_ARGS];
    taper_tensor *made[MOST_ARGS] = {NULL};
    taper_call inner = *call;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < call->arg_count && status == TAPER_OK; i++) {
        args[i] = call->args[i];
        if (taper_is_half(&args[i])) {
            status = convert(call->run, args[i].as.tensor, TAPER_F32, &made[i]);
            args[i] = status == TAPER_OK ? TAPER_VAL(made[i]) : args[i];
        }
    }
    if (status == TAPER_OK) {
        inner.args = args;
        inner.state = NULL; // no data is kept for later calls, because it would belong to the float copies
        inner.prepared = NULL;
        inner.shell = NULL;
        inner.operands = NULL;
        inner.plan = NULL;
        status = kernel(&inner);
    }
    if (status == TAPER_OK) {
        status = round_results(call, (taper_dtype)call->args[0].as.tensor->dtype);
    }
    for (size_t i = 0; i < call->arg_count; i++) {
        if (made[i] != NULL) {
            taper_obj_release(&made[i]->head);
        }
    }
    return status;
}
