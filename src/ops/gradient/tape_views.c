// SPDX-License-Identifier: BSD-2-Clause
// The tensors of a call, and the views among them. The code notes the base of each view and how the view was made,
// because PyTorch forbids some writes to views.
#include <stdio.h>

#include "ir/tensor_def.h"
#include "ops/gradient/tape.h"

// ---- the tensors among arguments and results

bool taper_tape_is_computed(const taper_tensor *tensor)
{
    const taper_history *const history = tensor->history;
    return history != NULL && (history->node != NULL || history->written);
}

bool taper_tape_requires(const taper_tensor *tensor)
{
    const taper_history *const history = tensor->history;
    return tensor->requires_grad ||
           (history != NULL &&
            (history->node != NULL || (history->base != NULL && taper_tape_requires(history->base))));
}

static size_t tensors_in(taper_val value)
{
    size_t count = value.tag == TAPER_TENSOR ? 1 : 0;
    for (size_t i = 0; value.tag == TAPER_LIST && i < value.as.list->count; i++) {
        count += value.as.list->items[i].tag == TAPER_TENSOR ? 1 : 0;
    }
    return count;
}

size_t taper_tape_items(taper_val value)
{
    return value.tag == TAPER_TENSOR ? 1 : tensors_in(value) != 0 ? value.as.list->count : 0;
}

taper_tensor *taper_tape_item(taper_val value, size_t item)
{
    const taper_val found = value.tag == TAPER_LIST ? value.as.list->items[item] : value;
    return found.tag == TAPER_TENSOR ? found.as.tensor : NULL;
}

bool taper_tape_is_given(const taper_call *call, const taper_tensor *tensor)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const size_t edges = taper_tape_items(call->args[i]);
        for (size_t k = 0; k < edges; k++) {
            if (taper_tape_item(call->args[i], k) == tensor) {
                return true;
            }
        }
    }
    return false;
}

bool taper_tape_writes(const taper_call *call)
{
    return call->schema != NULL && call->schema->arg_count != 0 && call->schema->args[0].written &&
           call->schema->out_count == 0 && call->arg_count != 0 && call->args[0].tag == TAPER_TENSOR;
}

// ---- views among the results, and writes to views

bool taper_tape_overlaps(const taper_tape_place *view)
{
    int64_t last = -1; // largest offset of an element along the dimensions in `done`, which have smaller strides
    for (uint32_t done = 0, found = 1; found != 0; done |= found) {
        size_t least = 0;
        found = 0;
        for (size_t d = 0; d < view->rank; d++) {
            const bool counts = view->sizes[d] > 1 && (done >> d & 1) == 0;
            if (counts && (found == 0 || view->strides[d] < view->strides[least])) {
                least = d;
                found = UINT32_C(1) << d;
            }
        }
        if (found != 0) {
            if (view->strides[least] <= taper_max_i64(last, 0)) {
                return true;
            }
            last = taper_wrap_add(taper_max_i64(last, 0), taper_wrap_mul(view->sizes[least] - 1, view->strides[least]));
        }
    }
    return false;
}

taper_status taper_tape_check_view(const taper_run *run, const taper_tensor *view, bool direct)
{
    const taper_history *const history = view->history;
    const char *const modified = direct ? "is being" : "its base or another view of its base has been";
    if (history->origin == TAPER_VIEW_PLAIN) {
        return TAPER_OK;
    }
    const bool several = history->origin == TAPER_VIEW_OF_SEVERAL;
    char begin[96];
    if (history->node != NULL) {
        snprintf(begin, sizeof begin, "Output %u of its function is a view%s", (unsigned)history->output,
                 several ? "" : " of a view which was created in no_grad mode");
    } else {
        snprintf(begin, sizeof begin, "A view was created in no_grad mode");
    }
    TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "%s and %s modified inplace%s. %s", begin, modified,
               several && history->node != NULL ? "" : " with grad mode enabled",
               several
                   ? "This view is the output of a function that returns multiple views. Such functions do not allow "
                     "the output views to be modified inplace. You should replace the inplace operation by an "
                     "out-of-place one."
                   : "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
                     "code by moving both the view and the inplace either both inside the no_grad block (if you "
                     "don't want the inplace to be tracked) or both outside (if you want the inplace to be "
                     "tracked).");
}

taper_status taper_tape_check_writable(const taper_call *call, const taper_tensor *self)
{
    const taper_tensor *const base = self->history != NULL ? self->history->base : NULL;
    TAPER_TRY(base != NULL ? taper_tape_check_view(call->run, self, true) : TAPER_OK);
    // In PyTorch this operator writes to a view of the tensor.
    const bool fills = call->op == TAPER_OP(aten_fill_diagonal_);
    const bool of_leaf = !taper_tape_is_computed(base != NULL ? base : self) && (base != NULL || fills);
    if ((of_leaf || (!fills && !taper_tape_is_computed(self))) && taper_tape_requires(self)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "a %sleaf Variable that requires grad is being used in an in-place operation.",
                   of_leaf ? "view of a " : "");
    }
    return TAPER_OK;
}

taper_status taper_tape_check_flag(const taper_call *call)
{
    if (call->op == TAPER_OP(aten_requires_grad_) && call->args[0].tag == TAPER_TENSOR &&
        call->args[1].tag == TAPER_BOOLEAN && !call->args[1].as.b && taper_tape_is_computed(call->args[0].as.tensor)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                   "in a subgraph that doesn't require differentiation use var_no_grad = var.detach().");
    }
    return TAPER_OK;
}

// Notes that a new result shares the storage of argument 0, so that a write to either of the two tensors reaches the
// history of the other one.
static taper_status note_view(const taper_call *call, taper_tensor *tensor, taper_view_origin origin)
{
    if (call->arg_count == 0 || call->args[0].tag != TAPER_TENSOR || taper_tape_is_given(call, tensor)) {
        return TAPER_OK;
    }
    taper_tensor *const of = call->args[0].as.tensor;
    if (of->storage != tensor->storage) {
        return TAPER_OK;
    }
    taper_history *const history = taper_history_need(tensor);
    if (history == NULL) {
        return taper_fail_memory(call->run->error);
    }
    const bool of_view = of->history != NULL && of->history->base != NULL;
    taper_tensor *const base = of_view ? of->history->base : of;
    history->origin = (uint8_t)(origin == TAPER_VIEW_PLAIN && of_view ? of->history->origin : origin);
    history->unversioned = of->history != NULL && of->history->unversioned;
    taper_obj_retain(&base->head);
    taper_tensor *const old = history->base;
    history->base = base;
    if (old != NULL) {
        taper_obj_release(&old->head);
    }
    return TAPER_OK;
}

// Returns true for the operators whose views PyTorch treats as several views of one call. In PyTorch other operators
// that return lists of views consist of calls that return one view each.
static bool returns_several(const taper_op *op)
{
    const taper_op *const several[] = {TAPER_OP(aten_unbind_int), TAPER_OP(aten_split_Tensor),
                                       TAPER_OP(aten_split_with_sizes), TAPER_OP(aten_split_sizes),
                                       TAPER_OP(aten_chunk)};
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        if (op == several[i]) {
            return true;
        }
    }
    return false;
}

taper_status taper_tape_note_views(const taper_call *call)
{
    const taper_view_origin origin = call->run->tape->off        ? TAPER_VIEW_UNRECORDED
                                     : returns_several(call->op) ? TAPER_VIEW_OF_SEVERAL
                                                                 : TAPER_VIEW_PLAIN;
    for (size_t i = 0; i < call->ret_count; i++) {
        const taper_val value = call->rets[i];
        const size_t count = taper_tape_items(value);
        for (size_t k = 0; k < count; k++) {
            taper_tensor *const tensor = taper_tape_item(value, k);
            TAPER_TRY(tensor != NULL ? note_view(call, tensor, origin) : TAPER_OK);
        }
    }
    return TAPER_OK;
}

taper_status taper_tape_note_data(const taper_call *call, const taper_tape_call *noted)
{
    if (call->op == TAPER_OP(prim_data) || call->op == TAPER_OP(aten_data)) {
        taper_history *const history = taper_history_need(call->rets[0].as.tensor);
        if (history == NULL) {
            return taper_fail_memory(call->run->error);
        }
        history->unversioned = true;
    }
    const taper_tensor *const self = taper_tape_writes(call) ? call->args[0].as.tensor : NULL;
    if (self != NULL && self->history != NULL && self->history->unversioned) {
        self->storage->version = noted->version;
    }
    return TAPER_OK;
}
