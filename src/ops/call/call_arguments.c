// SPDX-License-Identifier: BSD-2-Clause
// Reads the arguments of an operator call.
#include "ops/call/call.h"

#include <math.h>

#include "ops/call/promote.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern bool taper_arg_is_none(const taper_call *call, size_t at);

static TAPER_COLD taper_status wrong_kind(const taper_call *call, size_t at, const char *expected)
{
    const bool known = call->schema != NULL && at < call->schema->arg_count;
    const taper_val value = at < call->arg_count ? call->args[at] : taper_val_none();
    TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' (position %zu): expected %s, got %s",
               known ? call->schema->args[at].name : "?", at, expected,
               at < call->arg_count ? taper_val_kind_name(value) : "nothing");
}

const char *taper_arg_name(const taper_call *call, size_t at)
{
    return call->schema != NULL && at < call->schema->arg_count ? call->schema->args[at].name : "?";
}

taper_status taper_arg_tensor(const taper_call *call, size_t at, taper_tensor **tensor)
{
    if (at >= call->arg_count || call->args[at].tag != TAPER_TENSOR) {
        return wrong_kind(call, at, "a Tensor");
    }
    *tensor = call->args[at].as.tensor;
    return TAPER_OK;
}

taper_status taper_arg_tensor_or_none(const taper_call *call, size_t at, taper_tensor **tensor)
{
    if (taper_arg_is_none(call, at)) {
        *tensor = NULL;
        return TAPER_OK;
    }
    return taper_arg_tensor(call, at, tensor);
}

taper_status taper_arg_bool(const taper_call *call, size_t at, bool *flag)
{
    if (at >= call->arg_count || (call->args[at].tag != TAPER_BOOLEAN && call->args[at].tag != TAPER_INT)) {
        return wrong_kind(call, at, "a bool");
    }
    *flag = call->args[at].as.i != 0;
    return TAPER_OK;
}

taper_status taper_arg_int(const taper_call *call, size_t at, int64_t *number)
{
    if (at >= call->arg_count || (call->args[at].tag != TAPER_INT && call->args[at].tag != TAPER_BOOLEAN)) {
        return wrong_kind(call, at, "an int");
    }
    *number = call->args[at].as.i;
    return TAPER_OK;
}

taper_status taper_arg_int_or(const taper_call *call, size_t at, int64_t otherwise, int64_t *number)
{
    if (taper_arg_is_none(call, at)) {
        *number = otherwise;
        return TAPER_OK;
    }
    return taper_arg_int(call, at, number);
}

taper_status taper_arg_double(const taper_call *call, size_t at, double *number)
{
    if (at < call->arg_count && call->args[at].tag == TAPER_DOUBLE) {
        *number = call->args[at].as.f;
        return TAPER_OK;
    }
    if (at < call->arg_count && (call->args[at].tag == TAPER_INT || call->args[at].tag == TAPER_BOOLEAN)) {
        *number = (double)call->args[at].as.i;
        return TAPER_OK;
    }
    return wrong_kind(call, at, "a float");
}

taper_status taper_arg_double_or(const taper_call *call, size_t at, double otherwise, double *number)
{
    if (taper_arg_is_none(call, at)) {
        *number = otherwise;
        return TAPER_OK;
    }
    return taper_arg_double(call, at, number);
}

taper_status taper_arg_string(const taper_call *call, size_t at, const taper_string **string)
{
    if (at >= call->arg_count || call->args[at].tag != TAPER_STRING) {
        return wrong_kind(call, at, "a str");
    }
    *string = call->args[at].as.string;
    return TAPER_OK;
}

taper_status taper_arg_list(const taper_call *call, size_t at, taper_list **list)
{
    if (at >= call->arg_count || call->args[at].tag != TAPER_LIST) {
        return wrong_kind(call, at, "a list");
    }
    *list = call->args[at].as.list;
    return TAPER_OK;
}

taper_status taper_arg_dict(const taper_call *call, size_t at, taper_dict **dict)
{
    if (at >= call->arg_count || call->args[at].tag != TAPER_DICT) {
        return wrong_kind(call, at, "a dict");
    }
    *dict = call->args[at].as.dict;
    return TAPER_OK;
}

taper_status taper_arg_object(const taper_call *call, size_t at, taper_object **object)
{
    if (at >= call->arg_count || call->args[at].tag != TAPER_OBJECT) {
        return wrong_kind(call, at, "an object");
    }
    *object = call->args[at].as.object;
    return TAPER_OK;
}

taper_status taper_arg_dtype_or(const taper_call *call, size_t at, taper_dtype otherwise, taper_dtype *dtype)
{
    int64_t number;
    TAPER_TRY(taper_arg_int_or(call, at, (int64_t)otherwise, &number));
    if (number < 0 || number >= TAPER_DTYPE_COUNT) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s': there is no dtype %lld",
                   taper_arg_name(call, at), (long long)number);
    }
    *dtype = (taper_dtype)number;
    return TAPER_OK;
}

taper_status taper_arg_ints(const taper_call *call, size_t at, size_t want, size_t limit, int64_t *numbers,
                            size_t *count)
{
    size_t n = 0;
    if (at < call->arg_count && call->args[at].tag == TAPER_LIST) {
        const taper_list *list = call->args[at].as.list;
        n = list->count;
        if (n > limit) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "argument '%s': a list of %zu ints, at most %zu are possible", taper_arg_name(call, at), n,
                       limit);
        }
        for (size_t i = 0; i < n; i++) {
            const taper_val item = list->items[i];
            if (item.tag == TAPER_INT || item.tag == TAPER_BOOLEAN) {
                numbers[i] = item.as.i;
            } else if (item.tag == TAPER_TENSOR && item.as.tensor->rank == 0 &&
                       !taper_dtype_is_float((taper_dtype)item.as.tensor->dtype)) {
                numbers[i] = taper_load_int((taper_dtype)item.as.tensor->dtype, taper_tensor_data(item.as.tensor), 0);
            } else {
                return wrong_kind(call, at, "a list of ints");
            }
        }
    } else if (at < call->arg_count && call->args[at].tag == TAPER_INT) {
        n = 1;
        numbers[0] = call->args[at].as.i;
    } else {
        return wrong_kind(call, at, "a list of ints");
    }
    if (want > 1 && n == 1 && want <= limit) {
        for (; n < want; n++) {
            numbers[n] = numbers[0];
        }
    }
    if (want != 0 && n != want) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s': expected %zu ints, got %zu",
                   taper_arg_name(call, at), want, n);
    }
    *count = n;
    return TAPER_OK;
}

taper_status taper_arg_doubles(const taper_call *call, size_t at, size_t limit, double *numbers, size_t *count)
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, at, &list));
    if (list->count > limit) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': a list of %zu floats, at most %zu are possible", taper_arg_name(call, at),
                   list->count, limit);
    }
    for (size_t i = 0; i < list->count; i++) {
        const taper_val item = list->items[i];
        if (item.tag != TAPER_DOUBLE && item.tag != TAPER_INT && item.tag != TAPER_BOOLEAN) {
            return wrong_kind(call, at, "a list of floats");
        }
        numbers[i] = item.tag == TAPER_DOUBLE ? item.as.f : (double)item.as.i;
    }
    *count = list->count;
    return TAPER_OK;
}

taper_status taper_arg_dim(const taper_call *call, size_t at, size_t rank, size_t *dim)
{
    int64_t number;
    TAPER_TRY(taper_arg_int(call, at, &number));
    const int64_t range = rank == 0 ? 1 : (int64_t)rank;
    if (number < -range || number >= range) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                   taper_arg_name(call, at), (long long)-range, (long long)range - 1, (long long)number);
    }
    *dim = (size_t)(number < 0 ? number + range : number);
    return TAPER_OK;
}

taper_status taper_arg_tensor_item(const taper_call *call, size_t at, size_t item, bool optional, taper_tensor **tensor)
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, at, &list));
    if (item < list->count && optional && list->items[item].tag == TAPER_NONE) {
        *tensor = NULL;
        return TAPER_OK;
    }
    if (item >= list->count || list->items[item].tag != TAPER_TENSOR) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s': item %zu is not a Tensor but %s",
                   taper_arg_name(call, at), item,
                   item < list->count ? taper_val_kind_name(list->items[item]) : "missing");
    }
    *tensor = list->items[item].as.tensor;
    return TAPER_OK;
}

static taper_status tensor_scalar(const taper_call *call, size_t at, taper_tensor *tensor, taper_scalar *scalar)
{
    if (taper_tensor_numel(tensor) != 1) {
        return wrong_kind(call, at, "a number (or a tensor of one element)");
    }
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    const void *data = taper_tensor_data(tensor);
    *scalar = (taper_scalar){.kind = TAPER_SCALAR_DOUBLE};
    if (dtype == TAPER_BOOL || taper_dtype_is_integral(dtype)) {
        scalar->kind = dtype == TAPER_BOOL ? TAPER_SCALAR_BOOL : TAPER_SCALAR_INT;
        scalar->i = taper_load_int(dtype, data, 0);
        scalar->f = (double)scalar->i;
        return TAPER_OK;
    }
    scalar->f = taper_load_double(dtype, data, 0);
    if (taper_dtype_is_complex(dtype)) {
        scalar->kind = TAPER_SCALAR_COMPLEX;
        scalar->im = dtype == TAPER_C64    ? (double)((const float *)data)[1]
                     : dtype == TAPER_C128 ? ((const double *)data)[1]
                                           : 0;
    }
    return TAPER_OK;
}

taper_status taper_arg_scalar(const taper_call *call, size_t at, taper_scalar *scalar)
{
    const taper_val value = at < call->arg_count ? call->args[at] : taper_val_none();
    *scalar = (taper_scalar){.kind = TAPER_SCALAR_INT};
    switch (value.tag) {
    case TAPER_BOOLEAN:
    case TAPER_INT:
        scalar->kind = value.tag == TAPER_INT ? TAPER_SCALAR_INT : TAPER_SCALAR_BOOL;
        scalar->i = value.as.i;
        scalar->f = (double)value.as.i;
        return TAPER_OK;
    case TAPER_DOUBLE:
        scalar->kind = TAPER_SCALAR_DOUBLE;
        scalar->f = value.as.f;
        scalar->i = value.as.f >= -9.2e18 && value.as.f <= 9.2e18 ? (int64_t)value.as.f : 0;
        return TAPER_OK;
    case TAPER_COMPLEX:
        scalar->kind = TAPER_SCALAR_COMPLEX;
        scalar->f = value.as.complex->re;
        scalar->im = value.as.complex->im;
        return TAPER_OK;
    case TAPER_TENSOR:
        return tensor_scalar(call, at, value.as.tensor, scalar);
    default:
        return wrong_kind(call, at, "a number");
    }
}
