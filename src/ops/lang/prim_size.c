// SPDX-License-Identifier: BSD-2-Clause
// Lists of sizes: broadcasting, ranges, dimensions of size one.
#include <inttypes.h>

#include "ops/call/call.h"
#include "ops/lang/container.h"
#include "ops/lang/prim.h"
#include "ops/lang/scalar.h"

// Returns a list argument and checks that all its items are ints.
static taper_status arg_sizes(const taper_call *call, size_t at, taper_list **list)
{
    TAPER_TRY(taper_arg_list(call, at, list));
    for (size_t i = 0; i < (*list)->count; i++) {
        if ((*list)->items[i].tag != TAPER_INT) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu of argument %zu is no int but %s", i,
                              at, taper_val_kind_name((*list)->items[i]));
        }
    }
    return TAPER_OK;
}

static taper_status append_int(taper_call *call, taper_list *list, int64_t number)
{
    return taper_list_append(list, taper_val_int(number), call->run->error);
}

// Broadcasts two lists of sizes. PyTorch exchanges the arguments, so its error message calls the second argument "a".
TAPER_KERNEL(taper_op_infer_size)
{
    taper_list *a, *b, *out = NULL;
    TAPER_TRY(arg_sizes(call, 1, &a));
    TAPER_TRY(arg_sizes(call, 0, &b));
    const size_t rank = taper_max_size(a->count, b->count);
    TAPER_TRY(taper_ret_list(call, &taper_type_int, rank, &out));
    for (size_t i = 0; i < rank; i++) {
        const int64_t x = i + a->count < rank ? 1 : a->items[i + a->count - rank].as.i;
        const int64_t y = i + b->count < rank ? 1 : b->items[i + b->count - rank].as.i;
        if (x != y && x != 1 && y != 1) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                              "The size of tensor a (%" PRId64 ") must match the size of tensor b (%" PRId64
                              ") at non-singleton dimension %zu",
                              x, y, i);
        }
        TAPER_TRY(append_int(call, out, x == 1 ? y : x));
    }
    return TAPER_OK;
}

// Returns the first list of sizes, or None if it equals the second list.
TAPER_KERNEL(taper_op_size_if_not_equal)
{
    taper_list *a, *b;
    TAPER_TRY(arg_sizes(call, 0, &a));
    TAPER_TRY(arg_sizes(call, 1, &b));
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        equal = a->items[i].as.i == b->items[i].as.i;
    }
    taper_ret(call, 0, equal ? taper_val_none() : taper_val_retain(call->args[0]));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_rangelist)
{
    int64_t n;
    taper_list *list = NULL;
    TAPER_TRY(taper_arg_int(call, 0, &n));
    n = n < 0 ? 0 : n;
    TAPER_TRY(taper_ret_list(call, &taper_type_int, (size_t)n, &list));
    for (int64_t i = 0; i < n; i++) {
        TAPER_TRY(append_int(call, list, i));
    }
    return TAPER_OK;
}

// Kernel of infer_squeeze_size (all dimensions or one) and infer_unsqueeze_size.
TAPER_KERNEL(taper_op_infer_squeeze)
{
    const bool insert = taper_call_code(call) == TAPER_PRIM_UNSQUEEZE;
    taper_list *sizes, *out = NULL;
    int64_t dim = 0;
    TAPER_TRY(arg_sizes(call, 0, &sizes));
    const int64_t rank = (int64_t)sizes->count;
    const bool all = call->arg_count < 2;
    if (!all) {
        TAPER_TRY(taper_arg_int(call, 1, &dim));
        const int64_t range = insert ? rank + 1 : taper_max_i64(rank, 1);
        if (dim < -range || dim >= range) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                              "Dimension out of range (expected to be in range of [%" PRId64 ", %" PRId64
                              "], but got %" PRId64 ")",
                              -range, range - 1, dim);
        }
        dim = dim < 0 ? dim + range : dim;
    }
    TAPER_TRY(taper_ret_list(call, &taper_type_int, sizes->count + 1, &out));
    for (int64_t i = 0; i < rank; i++) {
        const int64_t size = sizes->items[i].as.i;
        if (insert && i == dim) {
            TAPER_TRY(append_int(call, out, 1));
        }
        if (insert || size != 1 || (!all && i != dim)) {
            TAPER_TRY(append_int(call, out, size));
        }
    }
    return insert && dim == rank ? append_int(call, out, 1) : TAPER_OK;
}
