// SPDX-License-Identifier: BSD-2-Clause
// Reading arguments and leaving results of an operator call.
#include "ops/call/call.h"

#include <math.h>

#include "base/budget.h"
#include "ops/call/check_shapes.h"
#include "ops/call/prepared.h"
#include "ops/call/promote.h"
#include "ops/list/registry.h"
#include "platform/denormals.h"

// ---- arguments

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

// ---- results

taper_tensor *taper_ret_argument(const taper_call *call, size_t at)
{
    const taper_schema *schema = call->schema;
    if (schema == NULL) {
        return NULL;
    }
    size_t position;
    if (schema->out_count != 0 && at < schema->out_count) {
        position = schema->arg_count - schema->out_count + at;
    } else if (schema->in_place && at == 0) {
        position = 0;
    } else {
        return NULL;
    }
    return position < call->arg_count && call->args[position].tag == TAPER_TENSOR ? call->args[position].as.tensor
                                                                                  : NULL;
}

taper_tensor *taper_ret_target(const taper_call *call, size_t at)
{
    return call->schema != NULL && taper_op_has(call->op, TAPER_OP_OUT_COPY) ? NULL : taper_ret_argument(call, at);
}

static bool same_sizes(const taper_tensor *tensor, size_t rank, const int64_t *sizes)
{
    return tensor->rank == rank && (rank == 0 || memcmp(tensor->sizes, sizes, rank * sizeof *sizes) == 0);
}

taper_status taper_out_resize(taper_call *call, taper_tensor *target, size_t rank, const int64_t *sizes,
                              const int64_t *strides)
{
    if (same_sizes(target, rank, sizes)) {
        return TAPER_OK;
    }
    taper_tensor *fresh;
    TAPER_TRY(
        taper_tensor_new(call->run->heap, (taper_dtype)target->dtype, rank, sizes, strides, &fresh, call->run->error));
    taper_storage *old = target->storage;
    target->storage = fresh->storage;
    fresh->storage = old;
    target->offset = 0;
    target->hidden_nhwc = false;
    target->rank = fresh->rank;
    memcpy(target->sizes, fresh->sizes, sizeof target->sizes);
    memcpy(target->strides, fresh->strides, sizeof target->strides);
    taper_obj_release(&fresh->head);
    return TAPER_OK;
}

taper_status taper_ret_check_overlap(const taper_call *call, const taper_tensor *tensor)
{
    if (taper_op_has(call->op, TAPER_OP_OVERLAP) || taper_tensor_numel(tensor) == 0) {
        return TAPER_OK;
    }
    for (unsigned d = 0; d < tensor->rank; d++) {
        if (tensor->strides[d] == 0 && tensor->sizes[d] > 1) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "unsupported operation: more than one element of the written-to tensor refers to a single "
                       "memory location. Please clone() the tensor before performing the operation.");
        }
    }
    return TAPER_OK;
}

static taper_status prepare_target(taper_call *call, size_t at, taper_tensor *target, taper_dtype dtype, size_t rank,
                                   const int64_t *sizes, const int64_t *strides)
{
    const uint64_t flags = taper_op_facts(call->op);
    if ((flags & TAPER_OP_OUT_SAME) != 0 && dtype != target->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "expected an out tensor of dtype %s, but got %s",
                   taper_dtype_torch_name(dtype), taper_dtype_torch_name((taper_dtype)target->dtype));
    }
    if ((flags & TAPER_OP_OUT_CAST) != 0) {
        TAPER_TRY(taper_check_cast(dtype, (taper_dtype)target->dtype, call->run->error));
    }
    if (call->schema->out_count == 0 && !same_sizes(target, rank, sizes)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "the result has other sizes than argument '%s', which it is to be written to",
                   taper_arg_name(call, 0));
    }
    TAPER_TRY(taper_out_resize(call, target, rank, sizes, strides));
    TAPER_TRY(taper_ret_check_overlap(call, target));
    TAPER_TRY(taper_storage_write(target->storage, call->run->error));
    taper_obj_retain(&target->head);
    taper_ret(call, at, TAPER_VAL(target));
    return TAPER_OK;
}

taper_status taper_ret_new(taper_call *call, size_t at, taper_dtype dtype, size_t rank, const int64_t *sizes,
                           const int64_t *strides, taper_tensor **tensor)
{
    *tensor = taper_ret_target(call, at);
    if (*tensor != NULL) {
        return prepare_target(call, at, *tensor, dtype, rank, sizes, strides);
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, rank, sizes, strides, tensor, call->run->error));
    taper_ret(call, at, TAPER_VAL(*tensor));
    return TAPER_OK;
}

taper_status taper_ret_new_nhwc(taper_call *call, size_t at, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                bool hidden, taper_tensor **tensor)
{
    int64_t strides[TAPER_MAX_RANK];
    if (rank != 4 && rank != 5) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_INTERNAL, "channels-last result of rank %zu", rank);
    }
    int64_t pixels = 1;
    for (size_t i = 2; i < rank; i++) {
        pixels *= sizes[i] > 1 ? 2 : 1; // more than one?
    }
    const bool same_bytes = sizes[1] == 1 || pixels == 1; // then the contiguous strides say the same
    *tensor = taper_ret_target(call, at);
    if ((*tensor == NULL && !same_bytes) || !hidden) {
        taper_strides_channels_last(rank, sizes, strides);
    } else {
        taper_strides_contiguous(rank, sizes, strides);
    }
    if (*tensor != NULL) {
        return prepare_target(call, at, *tensor, dtype, rank, sizes, strides);
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, rank, sizes, strides, tensor, call->run->error));
    (*tensor)->hidden_nhwc = hidden && !same_bytes;
    taper_ret(call, at, TAPER_VAL(*tensor));
    return TAPER_OK;
}

// Takes over the reference of value.
static taper_status ret_copied(taper_call *call, size_t at, taper_tensor *target, taper_tensor *value)
{
    taper_status status = prepare_target(call, at, target, (taper_dtype)value->dtype, value->rank, value->sizes, NULL);
    if (status == TAPER_OK && target->dtype != value->dtype &&
        (taper_dtype_is_quantized((taper_dtype)target->dtype) || taper_dtype_is_quantized((taper_dtype)value->dtype))) {
        status = taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor must be %s, as the result, not %s",
                            taper_dtype_name((taper_dtype)value->dtype), taper_dtype_name((taper_dtype)target->dtype));
    }
    if (status == TAPER_OK) {
        status = taper_run_copy(call->run, target, value);
    }
    if (status == TAPER_OK && value->quantizer != NULL) {
        status = taper_tensor_set_quantizer(target, value->quantizer, call->run->error);
    }
    taper_obj_release(&value->head);
    return status;
}

taper_status taper_ret_tensor(taper_call *call, size_t at, taper_tensor *value)
{
    taper_tensor *target = taper_ret_target(call, at);
    if (target == NULL || target == value) {
        taper_ret(call, at, TAPER_VAL(value));
        return TAPER_OK;
    }
    return ret_copied(call, at, target, value);
}

taper_status taper_ret_string(taper_call *call, size_t at, const char *text, size_t length)
{
    TAPER_TRY(taper_run_spend(call->run, length / 8));
    taper_string *string = taper_string_new(call->run->heap, text, length);
    if (string == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, at, TAPER_VAL(string));
    return TAPER_OK;
}

taper_run taper_run_on(taper_heap *heap, taper_registry *registry, taper_error *error)
{
    return (taper_run){.heap = heap,
                       .registry = registry,
                       .error = error,
                       .budget = taper_budget_of(taper_heap_allocator(heap)),
                       .work_left = TAPER_WORK_BETWEEN};
}

taper_status taper_call_kernel(taper_call *call, taper_kernel kernel)
{
    if (call->prepared != NULL && *call->prepared != NULL && taper_prepared_fits(*call->prepared, call)) {
        kernel = taper_prepared_call;
    } else if (taper_call_has_quantized(call)) {
        TAPER_TRY(taper_quantized_kernel(call, &kernel));
    }
    taper_run *const run = call->run;
    taper_status status;
#ifdef TAPER_CHECK_SHAPES
    taper_shape_check check;
    taper_shape_check_begin(&check, call);
#endif
    if (!taper_op_has(call->op, TAPER_OP_PRODUCT) || run->flushes) {
        status = kernel(call);
    } else {
        const uint64_t before = taper_denormals_off();
        run->flushes = true; // so that other threads do, too
        status = kernel(call);
        run->flushes = false;
        taper_denormals_restore(before);
    }
    status = taper_run_outcome(run, status);
    for (size_t i = 0; status == TAPER_OK && taper_op_has(call->op, TAPER_OP_OUT_COPY) && i < call->ret_count; i++) {
        taper_tensor *const target = taper_ret_argument(call, i);
        const taper_val value = call->rets[i];
        if (target != NULL && value.tag == TAPER_TENSOR && value.as.tensor != target) {
            call->rets[i] = taper_val_none();
            status = ret_copied(call, i, target, value.as.tensor);
        }
    }
#ifdef TAPER_CHECK_SHAPES
    if (status == TAPER_OK) {
        status = taper_shape_check_end(&check, call);
    }
#endif
    return status;
}

taper_status taper_call_op(taper_run *run, const taper_op *op, taper_val *args, size_t arg_count, taper_val *rets,
                           size_t ret_count)
{
    enum { MOST = 32 };
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(run->registry, op, &schema, run->error));
    taper_val full[MOST];
    size_t count = arg_count;
    if (arg_count < schema->arg_count && schema->arg_count <= MOST) { // defaults
        for (size_t i = 0; i < schema->arg_count; i++) {
            full[i] = i < arg_count ? args[i] : schema->args[i].default_value;
        }
        args = full;
        count = schema->arg_count;
    }
    for (size_t i = 0; i < ret_count; i++) {
        rets[i] = taper_val_none();
    }
    for (size_t i = 0; i < count; i++) {
        if (!taper_op_has(op, TAPER_OP_NHWC)) {
            TAPER_TRY(taper_settle(run, args[i]));
        }
    }
    void *state = NULL;
    taper_call call = {.run = run,
                       .op = op,
                       .param = taper_row_param(op),
                       .schema = schema,
                       .args = args,
                       .arg_count = count,
                       .rets = rets,
                       .ret_count = ret_count,
                       .state = &state};
    const taper_status status = taper_call_kernel(&call, taper_row_kernel(op));
    if (status != TAPER_OK) {
        for (size_t i = 0; i < ret_count; i++) {
            taper_val_replace(&rets[i], taper_val_none());
        }
    }
    return status;
}
