// SPDX-License-Identifier: BSD-2-Clause
// Views of quantized tensors. The operator's own kernel makes the view. For a tensor that is quantized per channel, the
// view then gets the quantizer for its slice or its order of dimensions.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/list/op_table.h"
#include "ops/quantized/quantized.h"

static bool per_channel(const taper_tensor *x)
{
    return x->quantizer != NULL && x->quantizer->scales != NULL;
}

// Sets the quantizer of a slice along the argument 'dim': select, slice, narrow, split, chunk, unbind.
static taper_status fix_part(taper_call *call, const taper_tensor *x, size_t dim, taper_tensor *part)
{
    const int64_t stride = x->strides[dim];
    if (per_channel(x) && x->quantizer->axis == (int64_t)dim && stride == 0 && taper_tensor_numel(x) != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the channels of argument 'self' share memory");
    }
    const int64_t start = stride == 0 ? 0 : (part->offset - x->offset) / stride;
    if (part->rank < x->rank) {
        return taper_q_select(call->run, part, x, dim, start);
    }
    return taper_q_slice(call->run, part, x, dim, start, stride == 0 ? 1 : part->strides[dim] / stride);
}

TAPER_KERNEL(taper_op_q_part)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!per_channel(x)) {
        return taper_row_kernel(call->op)(call);
    }
    TAPER_TRY(taper_arg_quantized(call, 0, &x));
    size_t at = 1, dim;
    while (at + 1 < call->schema->arg_count && strcmp(call->schema->args[at].name, "dim") != 0) {
        at++;
    }
    TAPER_TRY(taper_arg_dim(call, at, x->rank, &dim));
    TAPER_TRY(taper_row_kernel(call->op)(call));
    if (call->rets[0].tag == TAPER_TENSOR) {
        return fix_part(call, x, dim, call->rets[0].as.tensor);
    }
    const taper_list *list = call->rets[0].as.list;
    for (size_t i = 0; i < list->count; i++) {
        TAPER_TRY(fix_part(call, x, dim, list->items[i].as.tensor));
    }
    return TAPER_OK;
}

// Sets the quantizer of the results of squeeze and unsqueeze, also in place: dimensions of size 1 disappear or appear,
// and the channels keep their axis.
TAPER_KERNEL(taper_op_q_squeeze)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!per_channel(x)) {
        return taper_row_kernel(call->op)(call);
    }
    TAPER_TRY(taper_arg_quantized(call, 0, &x));
    const bool all = call->arg_count < 2;
    taper_quantizer moved = *x->quantizer;
    size_t dim = 0;
    if (!all) {
        TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    }
    for (size_t d = all ? 0 : dim; d < (all ? x->rank : dim + 1); d++) {
        if (x->sizes[d] != 1) {
            continue;
        }
        if ((int64_t)d == x->quantizer->axis) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "squeeze is possible only on dimensions other than the channels' of a tensor quantized per "
                       "channel");
        }
        moved.axis -= (int64_t)d < x->quantizer->axis ? 1 : 0;
    }
    TAPER_TRY(taper_row_kernel(call->op)(call));
    return taper_tensor_set_quantizer(call->rets[0].as.tensor, &moved, call->run->error);
}

TAPER_KERNEL(taper_op_q_unsqueeze)
{
    taper_tensor *x;
    size_t dim;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!per_channel(x)) {
        return taper_row_kernel(call->op)(call);
    }
    TAPER_TRY(taper_arg_quantized(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank + 1u, &dim));
    taper_quantizer moved = *x->quantizer;
    moved.axis += (int64_t)dim <= moved.axis ? 1 : 0;
    TAPER_TRY(taper_row_kernel(call->op)(call));
    return taper_tensor_set_quantizer(call->rets[0].as.tensor, &moved, call->run->error);
}

// Sets the quantizer of the results of view, reshape and flatten: the axis keeps its index, and must still be a
// dimension with as many channels.
TAPER_KERNEL(taper_op_q_reshape)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!per_channel(x)) {
        return taper_row_kernel(call->op)(call);
    }
    TAPER_TRY(taper_arg_quantized(call, 0, &x));
    TAPER_TRY(taper_row_kernel(call->op)(call));
    return taper_q_check_tensor(call->run, "self", call->rets[0].as.tensor);
}

// Sets the quantizer of the results of rearrangements that PyTorch composes of reshapes. Their results are contiguous
// for any layout of the argument.
TAPER_KERNEL(taper_op_q_shuffle)
{
    enum { MOST = 4 };
    taper_val args[MOST];
    taper_tensor *x, *plain;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    taper_call inner = *call;
    memcpy(args, call->args, taper_min_size(call->arg_count, MOST) * sizeof *args);
    args[0] = TAPER_VAL(plain);
    inner.args = args;
    const taper_status status = taper_row_kernel(call->op)(&inner);
    taper_obj_release(&plain->head);
    return status;
}

TAPER_KERNEL(taper_op_q_channel_shuffle)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    if (x->dtype != TAPER_QU8) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "channel_shuffle of quantized tensors takes quint8, not %s",
                   taper_dtype_name((taper_dtype)x->dtype));
    }
    return taper_row_kernel(call->op)(call);
}
