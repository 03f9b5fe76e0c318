// SPDX-License-Identifier: BSD-2-Clause
// Tensors made of the values of a program: torch.tensor and as_tensor of numbers and nested lists.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/create.h"

// Rounds floats and complex numbers to the default dtype, because PyTorch first makes a tensor of that dtype, then
// converts it to any other dtype.
static void round_to_default(taper_scalar *value)
{
    const taper_dtype dtype = taper_create_dtype(value);
    float first[2];
    if (dtype == TAPER_F32 || dtype == TAPER_C64) {
        taper_scalar_store(dtype, first, value);
        taper_scalar_load(dtype, first, value);
    }
}

// ---- tensors from a number

static taper_status from_number(taper_call *call)
{
    taper_scalar value;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_scalar(call, 0, &value));
    TAPER_TRY(taper_arg_dtype_or(call, 1, taper_create_dtype(&value), &dtype));
    if (value.kind == TAPER_SCALAR_DOUBLE) {
        TAPER_TRY(taper_scalar_check(TAPER_F32, &value, call->run->error));
    }
    round_to_default(&value);
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, 0, NULL, NULL, &result, call->run->error));
    // A value that does not fit wraps around, as in a conversion of a tensor.
    size_t item;
    taper_status status = taper_move_item(result, &item, call->run->error);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    taper_scalar_store(dtype, taper_tensor_mutable(result), &value);
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}

// ---- tensors from nested lists

typedef struct list_shape {
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
    taper_dtype dtype;
} list_shape;

static bool type_dtype(const taper_type *type, taper_dtype *dtype)
{
    while (type != NULL && type->kind == TAPER_TYPE_LIST) {
        type = type->items[0];
    }
    switch (type == NULL ? TAPER_TYPE_ANY : (taper_type_kind)type->kind) {
    case TAPER_TYPE_INT:
        *dtype = TAPER_I64;
        return true;
    case TAPER_TYPE_FLOAT:
        *dtype = TAPER_F32;
        return true;
    case TAPER_TYPE_BOOL:
        *dtype = TAPER_BOOL;
        return true;
    case TAPER_TYPE_COMPLEX:
        *dtype = TAPER_C64;
        return true;
    default:
        return false;
    }
}

static bool value_dtype(taper_val value, taper_dtype *dtype)
{
    switch (value.tag) {
    case TAPER_INT:
        *dtype = TAPER_I64;
        return true;
    case TAPER_DOUBLE:
        *dtype = TAPER_F32;
        return true;
    case TAPER_BOOLEAN:
        *dtype = TAPER_BOOL;
        return true;
    case TAPER_COMPLEX:
        *dtype = TAPER_C64;
        return true;
    default:
        return false;
    }
}

// Finds the shape and the dtype of nested lists. The first list of each level decides the sizes. store_lists checks the
// other lists.
static taper_status measure(taper_error *error, const taper_list *list, list_shape *shape)
{
    *shape = (list_shape){.rank = 0, .dtype = TAPER_F32};
    const taper_list *at = list;
    for (;;) {
        if (at->element != NULL && at->element->kind == TAPER_TYPE_UNION) {
            return taper_fail(error, TAPER_ERROR_RAISED,
                              "data: items must have one type, but there are ints and floats");
        }
        if (shape->rank == TAPER_MAX_RANK) {
            return taper_rank_refused(error);
        }
        shape->sizes[shape->rank++] = (int64_t)at->count;
        if (at->count == 0) {
            (void)type_dtype(at->element, &shape->dtype);
            return TAPER_OK;
        }
        if (at->items[0].tag != TAPER_LIST) {
            if (!value_dtype(at->items[0], &shape->dtype)) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT, "Input must be of ints, floats, or bools, got %s",
                                  taper_val_kind_name(at->items[0]));
            }
            taper_dtype typed;
            if (type_dtype(at->element, &typed)) {
                shape->dtype = typed;
            }
            return TAPER_OK;
        }
        at = at->items[0].as.list;
    }
}

static taper_status store_item(taper_error *error, taper_val value, taper_dtype dtype, char *p)
{
    taper_scalar scalar = {.kind = TAPER_SCALAR_INT};
    switch (value.tag) {
    case TAPER_BOOLEAN:
    case TAPER_INT:
        scalar = taper_scalar_int(value.as.i);
        break;
    case TAPER_DOUBLE:
        scalar = taper_scalar_double(value.as.f);
        break;
    case TAPER_COMPLEX:
        scalar.kind = TAPER_SCALAR_COMPLEX;
        scalar.f = value.as.complex->re;
        scalar.im = value.as.complex->im;
        break;
    default:
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "data: expected numbers, got %s", taper_val_kind_name(value));
    }
    round_to_default(&scalar);
    taper_scalar_store(dtype, p, &scalar);
    return TAPER_OK;
}

// Stores nested lists without recursion, with one position per level.
static taper_status store_lists(taper_run *run, const taper_list *list, const list_shape *shape, taper_dtype dtype,
                                char *p)
{
    taper_error *error = run->error;
    const taper_list *levels[TAPER_MAX_RANK];
    size_t at[TAPER_MAX_RANK] = {0};
    const size_t item = taper_dtype_size(dtype);
    size_t depth = 0;
    levels[0] = list;
    for (;;) {
        const taper_list *here = levels[depth];
        TAPER_TRY(taper_run_spend(run, 20));
        if (at[depth] == 0 && (int64_t)here->count != shape->sizes[depth]) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "Expected sequence of length %lld at dim %zu (got %zu)",
                              (long long)shape->sizes[depth], depth, here->count);
        }
        if (depth + 1 == shape->rank) {
            for (size_t i = 0; i < here->count; i++, p += item) {
                if (!taper_run_step(run, (int64_t)i, 20)) {
                    return taper_run_spend(run, 0);
                }
                TAPER_TRY(store_item(error, here->items[i], dtype, p));
            }
            at[depth] = here->count;
        }
        if (at[depth] < here->count) {
            const taper_val next = here->items[at[depth]++];
            if (next.tag != TAPER_LIST) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT, "data: expected a list at dim %zu, got %s", depth + 1,
                                  taper_val_kind_name(next));
            }
            levels[++depth] = next.as.list;
            at[depth] = 0;
        } else if (depth == 0) {
            return TAPER_OK;
        } else {
            depth--;
        }
    }
}

static taper_status from_list(taper_call *call, size_t dtype_at)
{
    taper_error *error = call->run->error;
    taper_list *list;
    list_shape shape;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(measure(error, list, &shape));
    TAPER_TRY(taper_arg_dtype_or(call, dtype_at, shape.dtype, &dtype));
    if (taper_dtype_is_quantized(dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "dtype: %s is not possible here", taper_dtype_name(dtype));
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, shape.rank, shape.sizes, NULL, &result, error));
    const taper_status status = taper_tensor_numel(result) == 0
                                    ? TAPER_OK
                                    : store_lists(call->run, list, &shape, dtype, taper_tensor_mutable(result));
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tensor)
{
    return call->arg_count > 0 && call->args[0].tag == TAPER_LIST ? from_list(call, 1) : from_number(call);
}

TAPER_KERNEL(taper_op_as_tensor)
{
    taper_tensor *x, *result;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_dtype_or(call, 1, (taper_dtype)x->dtype, &dtype));
    if (dtype == x->dtype) {
        taper_view_ret_same(call, 0, x);
        return TAPER_OK;
    }
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_like_strides(x, TAPER_FORMAT_PRESERVE, strides, call->run->error));
    TAPER_TRY(taper_ret_new(call, 0, dtype, x->rank, x->sizes, strides, &result));
    return taper_run_copy(call->run, result, x);
}
