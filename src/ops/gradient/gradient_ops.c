// SPDX-License-Identifier: BSD-2-Clause
// The operators that compute gradients and that ask for them.
#include "ops/gradient/tape.h"

static TAPER_COLD taper_status no_tape(const taper_call *call)
{
    TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
               "gradients are computed in runs of models whose methods ask for them, and this is no such run");
}

static taper_status optional_list(const taper_call *call, size_t at, const taper_list **list)
{
    taper_list *found;
    *list = NULL;
    if (taper_arg_is_none(call, at)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_list(call, at, &found));
    *list = found;
    return TAPER_OK;
}

// Reads the arguments retain_graph and create_graph. If retain_graph is None, the graph is kept if create_graph is
// true, as in PyTorch.
static taper_status read_flags(const taper_call *call, size_t at, taper_tape_request *request)
{
    TAPER_TRY(taper_arg_bool(call, at + 1, &request->create));
    request->keep = request->create;
    return taper_arg_is_none(call, at) ? TAPER_OK : taper_arg_bool(call, at, &request->keep);
}

TAPER_KERNEL(taper_op_grad)
{
    taper_tape_request request = {.keep = false};
    if (call->run->tape == NULL) {
        return no_tape(call);
    }
    TAPER_TRY(optional_list(call, 0, &request.outputs));
    TAPER_TRY(optional_list(call, 1, &request.inputs));
    TAPER_TRY(optional_list(call, 2, &request.grad_outputs));
    TAPER_TRY(read_flags(call, 3, &request));
    TAPER_TRY(taper_arg_bool(call, 5, &request.allow_unused));
    if (request.outputs == NULL || request.inputs == NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "outputs and inputs should be lists of tensors");
    }
    taper_val found;
    TAPER_TRY(taper_tape_gradients(call->run, &request, &found));
    taper_ret(call, 0, found);
    return TAPER_OK;
}

// Computes the gradients of a list of tensors for all leaves.
static taper_status backward(taper_call *call, const taper_list *outputs, const taper_list *grads)
{
    taper_tape_request request = {.outputs = outputs, .grad_outputs = grads};
    taper_val found;
    TAPER_TRY(read_flags(call, 2, &request));
    return taper_tape_gradients(call->run, &request, &found);
}

TAPER_KERNEL(taper_op_backward_list)
{
    const taper_list *outputs, *grads;
    if (call->run->tape == NULL) {
        return no_tape(call);
    }
    TAPER_TRY(optional_list(call, 0, &outputs));
    TAPER_TRY(optional_list(call, 1, &grads));
    return outputs != NULL ? backward(call, outputs, grads) : TAPER_OK;
}

static taper_status list_of(taper_call *call, size_t at, taper_list **list)
{
    *list = taper_list_new(call->run->heap, &taper_type_optional_tensor, 1);
    if (*list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    (*list)->items[(*list)->count++] = taper_val_retain(call->args[at]);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_backward)
{
    taper_list *outputs, *grads;
    if (call->run->tape == NULL) {
        return no_tape(call);
    }
    TAPER_TRY(list_of(call, 0, &outputs));
    taper_status status = list_of(call, 1, &grads);
    if (status == TAPER_OK) {
        status = backward(call, outputs, grads);
        taper_val_release(TAPER_VAL(grads));
    }
    taper_val_release(TAPER_VAL(outputs));
    return status;
}

// Returns the gradient that aten::backward left in a leaf, or None.
TAPER_KERNEL(taper_op_tensor_grad)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_tensor *const grad = tensor->history != NULL ? tensor->history->grad : NULL;
    taper_ret(call, 0, grad != NULL ? taper_val_retain(TAPER_VAL(grad)) : taper_val_none());
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tensor_requires_grad)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_bool(taper_tape_requires(tensor)));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_is_leaf)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_bool(!taper_tape_is_computed(tensor)));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_set_grad_enabled)
{
    bool on;
    TAPER_TRY(taper_arg_bool(call, 0, &on));
    if (call->run->tape != NULL) {
        call->run->tape->off = !on;
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_is_grad_enabled)
{
    taper_ret(call, 0, taper_val_bool(call->run->tape != NULL && !call->run->tape->off));
    return TAPER_OK;
}

// Returns the tensor itself, which no longer needs a gradient.
TAPER_KERNEL(taper_op_detach_)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    if (tensor->history != NULL && tensor->history->base != NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Can't detach views in-place. Use detach() instead.");
    }
    taper_history_drop(tensor);
    tensor->requires_grad = false;
    taper_ret(call, 0, taper_val_retain(call->args[0]));
    return TAPER_OK;
}
