// SPDX-License-Identifier: BSD-2-Clause
// Helpers that the operators on lists and dicts share.
#include "ops/lang/container.h"

#include "ops/call/call.h"
#include "ops/lang/scalar.h"

// Returns bool(a.eq(b)), which PyTorch defines only if the result has one element.
static taper_status tensors_equal(taper_run *run, const taper_tensor *a, const taper_tensor *b, bool *equal)
{
    const int64_t an = taper_tensor_numel(a), bn = taper_tensor_numel(b);
    if (an != 1 || bn != 1) {
        return taper_fail(run->error, TAPER_ERROR_RAISED, "Boolean value of Tensor with %s is ambiguous",
                          an == 0 || bn == 0 ? "no values" : "more than one value");
    }
    taper_val x, y;
    TAPER_TRY(taper_tensor_number(run, a, &x));
    const taper_status status = taper_tensor_number(run, b, &y);
    if (status == TAPER_OK) {
        *equal = taper_val_equal(x, y);
        taper_val_release(y);
    }
    taper_val_release(x);
    return status;
}

taper_status taper_items_equal(taper_run *run, taper_val a, taper_val b, bool *equal)
{
    *equal = false;
    if (a.tag == TAPER_TENSOR && b.tag == TAPER_TENSOR) {
        return tensors_equal(run, a.as.tensor, b.as.tensor, equal);
    }
    if (a.tag >= TAPER_LIST || b.tag >= TAPER_LIST) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "items of kind %s cannot be compared",
                          taper_val_kind_name(a.tag >= TAPER_LIST ? a : b));
    }
    *equal = taper_val_equal(a, b);
    return taper_run_spend(run, WORK_OF_AN_ITEM);
}

taper_status taper_list_position(taper_run *run, const taper_list *list, int64_t index, size_t *at)
{
    const int64_t count = (int64_t)list->count;
    if (index < -count || index >= count) {
        return taper_fail(run->error, TAPER_ERROR_RAISED, "list index out of range");
    }
    *at = (size_t)(index < 0 ? index + count : index);
    return TAPER_OK;
}

taper_status taper_ret_list(taper_call *call, const taper_type *element, size_t capacity, taper_list **list)
{
    *list = NULL;
    if (capacity > TAPER_LIMIT_CONTAINER_ITEMS) {
        return taper_fail(call->run->error, TAPER_ERROR_RESOURCE, "a list grows beyond %d items",
                          TAPER_LIMIT_CONTAINER_ITEMS);
    }
    *list = taper_list_new(call->run->heap, element, capacity);
    if (*list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(*list));
    return TAPER_OK;
}

// Computes `len` of lists, dicts and tuples.
TAPER_KERNEL(taper_op_container_len)
{
    size_t count;
    if (call->arg_count >= 1 && call->args[0].tag == TAPER_DICT) {
        count = call->args[0].as.dict->count;
    } else if (call->arg_count >= 1 && call->args[0].tag == TAPER_TUPLE) {
        count = call->args[0].as.tuple->count;
    } else {
        taper_list *list;
        TAPER_TRY(taper_arg_list(call, 0, &list));
        count = list->count;
    }
    taper_ret(call, 0, taper_val_int((int64_t)count));
    return TAPER_OK;
}
