// SPDX-License-Identifier: BSD-2-Clause
// Sets the results of an operator call.
#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"

// Arguments of this size have left the L1 cache by the end of a call, so a result in memory other than the argument's
// costs more time than a prepared call saves.
enum { REUSED_BYTES = 256 << 10 };

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
    taper_tensor_was_reshaped(target);
    return TAPER_OK;
}

typedef enum sharing { APART, WHOLE, PART } sharing;

static sharing sharing_of(const taper_tensor *to, const taper_tensor *from)
{
    if (to == from) {
        return WHOLE;
    }
    if (to->storage != from->storage || taper_tensor_numel(to) == 0 || taper_tensor_numel(from) == 0 ||
        !taper_tensor_is_dense(to) || !taper_tensor_is_dense(from)) { // PyTorch compares only dense tensors
        return APART;
    }
    const int64_t t = to->offset * (int64_t)taper_tensor_item(to), f = from->offset * (int64_t)taper_tensor_item(from);
    const int64_t t_end = t + taper_tensor_numel(to) * (int64_t)taper_tensor_item(to);
    const int64_t f_end = f + taper_tensor_numel(from) * (int64_t)taper_tensor_item(from);
    if (t == f && t_end == f_end && same_sizes(to, from->rank, from->sizes) &&
        memcmp(to->strides, from->strides, to->rank * sizeof to->strides[0]) == 0) {
        return WHOLE;
    }
    return t < f_end && f < t_end ? PART : APART;
}

taper_status taper_check_sharing(const taper_tensor *to, const taper_tensor *from, bool may_be_whole,
                                 taper_error *error)
{
    const sharing shared = sharing_of(to, from);
    if (shared == PART || (shared == WHOLE && !may_be_whole)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                   "single memory location. Please clone() the tensor before performing the operation.");
    }
    return TAPER_OK;
}

// Compares the tensor that the call writes with the arguments that it reads.
static taper_status check_read(const taper_call *call, const taper_tensor *to)
{
    const bool apart = taper_op_has(call->op, TAPER_OP_APART), whole = taper_op_has(call->op, TAPER_OP_WHOLE);
    const size_t count = apart || whole ? taper_min_size(call->arg_count, call->schema->arg_count) : 0;
    for (size_t i = 0; i < count; i++) {
        const taper_val value = call->args[i];
        const bool may_be_whole = whole && (!apart || i == 0);
        if (call->schema->args[i].written) {
            continue;
        }
        if (value.tag == TAPER_TENSOR) {
            TAPER_TRY(taper_check_sharing(to, value.as.tensor, may_be_whole, call->run->error));
        }
        const taper_list *list = value.tag == TAPER_LIST ? value.as.list : NULL;
        for (size_t k = 0; list != NULL && k < list->count; k++) {
            if (list->items[k].tag == TAPER_TENSOR) {
                TAPER_TRY(taper_check_sharing(to, list->items[k].as.tensor, may_be_whole, call->run->error));
            }
        }
    }
    return TAPER_OK;
}

taper_status taper_check_expanded(const taper_tensor *tensor, taper_error *error)
{
    for (unsigned d = 0; d < tensor->rank && taper_tensor_numel(tensor) != 0; d++) {
        if (tensor->strides[d] == 0 && tensor->sizes[d] > 1) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "unsupported operation: more than one element of the written-to tensor refers to a single "
                       "memory location. Please clone() the tensor before performing the operation.");
        }
    }
    return TAPER_OK;
}

taper_status taper_ret_check_overlap(const taper_call *call, const taper_tensor *tensor)
{
    TAPER_TRY(check_read(call, tensor));
    return taper_op_has(call->op, TAPER_OP_OVERLAP) ? TAPER_OK : taper_check_expanded(tensor, call->run->error);
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
                   "the result must have the sizes of argument '%s', to which it is written", taper_arg_name(call, 0));
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

// Returns true if nothing but the register of argument `from` holds the argument and its memory, and the call empties
// that register. A run that records for gradients may keep arguments.
static bool is_last_use(const taper_call *call, size_t from)
{
    const taper_tensor *tensor = call->args[from].as.tensor;
    const taper_storage *storage = tensor->storage;
    return call->operands != NULL && (call->operands[from] & TAPER_OPERAND_LAST) != 0 && call->run->tape == NULL &&
           (storage->kind == TAPER_STORAGE_OWNED || storage->kind == TAPER_STORAGE_PLANNED) && !storage->read_only &&
           taper_refs_count(&tensor->head.refs) == 1 && taper_refs_count(&storage->head.refs) == 1;
}

taper_status taper_ret_over(taper_call *call, size_t at, size_t from, taper_dtype dtype, size_t rank,
                            const int64_t *sizes, const int64_t *strides, taper_tensor **tensor)
{
    *tensor = NULL;
    const taper_tensor *x =
        from < call->arg_count && call->args[from].tag == TAPER_TENSOR ? call->args[from].as.tensor : NULL;
    if (x == NULL || call->ret_count != 1 || x->storage->bytes < REUSED_BYTES || x->dtype != dtype || x->offset != 0 ||
        x->quantizer != NULL || x->hidden_nhwc || !same_sizes(x, rank, sizes) ||
        memcmp(x->strides, strides, rank * sizeof *strides) != 0 ||
        (size_t)taper_tensor_numel(x) * taper_tensor_item(x) != x->storage->bytes || !is_last_use(call, from)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_storage_write(x->storage, call->run->error));
    TAPER_TRY(taper_tensor_view(call->run->heap, x->storage, dtype, 0, rank, sizes, strides, tensor, call->run->error));
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
        pixels *= sizes[i] > 1 ? 2 : 1; // 1 if all sizes are 1, otherwise more; the product of the sizes might overflow
    }
    // if true, NHWC strides and contiguous strides describe the same bytes
    const bool same_bytes = sizes[1] == 1 || pixels == 1;
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
taper_status taper_ret_copied(taper_call *call, size_t at, taper_tensor *target, taper_tensor *value)
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
    return taper_ret_copied(call, at, target, value);
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
