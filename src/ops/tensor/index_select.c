// SPDX-License-Identifier: BSD-2-Clause
// Operators that read along one dimension by a vector of indices: index_select, embedding and repeat_interleave.
// index_rows.c has the operators that write.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/index_into.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/gather_rows.h"

typedef struct row_copies {
    const char *from;
    char *to;
    const taper_tensor *index;
    int64_t index_step, count; // stride of the indices; number of indices
    size_t size, row;          // size: rows in an outer block of `from`; row: bytes of a row
} row_copies;

static void copy_range(void *argument, size_t begin, size_t end)
{
    const row_copies *c = argument;
    int64_t outer = (int64_t)begin / c->count, i = (int64_t)begin % c->count;
    char *to = c->to + begin * c->row;
    for (size_t r = begin; r < end; r++, to += c->row) {
        const size_t at = (size_t)outer * c->size + (size_t)taper_index_at(c->index, i * c->index_step);
        memcpy(to, c->from + at * c->row, c->row);
        if (++i == c->count) {
            i = 0;
            outer++;
        }
    }
}

#include "ops/tensor/index_select_elements.h"

// Computes result[o, i, …] = x[o, index[i], …]. x and result are contiguous and consist of outer blocks of rows of
// `row` bytes.
static taper_status copy_rows(taper_run *run, const taper_tensor *x, size_t dim, const taper_tensor *index,
                              int64_t index_step, int64_t count, taper_tensor *result)
{
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, run->error));
    const int64_t size = x->rank == 0 ? 1 : x->sizes[dim];
    for (int64_t i = 0; i < count; i++) {
        if (!taper_run_step(run, i, 3)) {
            return taper_run_spend(run, 0);
        }
        const int64_t at = taper_index_at(index, i * index_step);
        if (at < 0 || at >= size) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "index out of range in self: %lld with size %lld",
                              (long long)at, (long long)size);
        }
    }
    int64_t outer = 1, inner = 1;
    for (size_t d = 0; d < x->rank; d++) {
        if (d < dim) {
            outer *= x->sizes[d];
        } else if (d > dim) {
            inner *= x->sizes[d];
        }
    }
    const size_t row = (size_t)inner * item;
    if (row == 0 || count == 0) {
        return TAPER_OK;
    }
    char *to = taper_tensor_mutable(result);
    const char *from = taper_tensor_data(x);
    const taper_status status =
        inner == 1 ? copy_elements(run, index, index_step, outer, count, size, from, to, item) : TAPER_DECLINED;
    if (status != TAPER_DECLINED) {
        return status;
    }
    row_copies job = {from, to, index, index_step, count, (size_t)size, row};
    const double rows = (double)outer * (double)count;
    return taper_run_range(run, copy_range, &job, (size_t)(outer * count), 1, rows * ((double)row / 16 + 3));
}

// Selects along dim by a vector of indices (or a tensor without dimensions), into a new contiguous tensor.
static taper_status select_rows(taper_run *run, taper_tensor *x, size_t dim, const taper_tensor *index,
                                taper_tensor **result)
{
    const int64_t count = index->rank == 0 ? 1 : index->sizes[0];
    taper_tensor *plain;
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[dim] = count;
    if (x->rank == 0 && count == 0) { // PyTorch returns uninitialized memory here
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "index_select(): Index to scalar can have only 1 value, got 0 value(s)");
    }
    TAPER_TRY(taper_run_contiguous(run, x, &plain));
    taper_status status = taper_tensor_like(run->heap, x, taper_max_size(x->rank, 1), sizes, NULL, result, run->error);
    if (status == TAPER_OK) {
        status = copy_rows(run, plain, dim, index, index->rank == 0 ? 0 : index->strides[0], count, *result);
        (*result)->rank = x->rank; // a tensor without dimensions keeps its rank, for any number of indices
        if (status != TAPER_OK) {
            taper_tensor_drop(*result);
        }
    }
    taper_tensor_drop(plain);
    return status;
}

TAPER_KERNEL(taper_op_index_select)
{
    taper_tensor *x, *index, *result;
    size_t dim;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_tensor(call, 2, &index));
    TAPER_TRY(taper_check_index(index, true, "index_select()", call->run->error));
    if (index->rank > 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "index_select(): Index is supposed to be a vector");
    }
    TAPER_TRY(select_rows(call->run, x, dim, index, &result));
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_embedding)
{
    taper_run *run = call->run;
    taper_tensor *weight, *indices, *flat, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    TAPER_TRY(taper_arg_tensor(call, 1, &indices));
    TAPER_TRY(taper_check_indices(indices, 1, "indices", "embedding", run->error));
    if (weight->rank != 2) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "'weight' must be 2-D");
    }
    if (indices->rank + 1u > TAPER_MAX_RANK) {
        return taper_rank_refused(run->error);
    }
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, indices->sizes, sizeof sizes);
    sizes[indices->rank] = weight->sizes[1];
    TAPER_TRY(taper_tensor_check_sizes((taper_dtype)weight->dtype, indices->rank + 1u, sizes, run->error));
    TAPER_TRY(taper_index_flat(run, indices, &flat));
    taper_status status = select_rows(run, weight, 0, flat, &result);
    taper_tensor_drop(flat);
    TAPER_TRY(status);
    result->rank = (uint8_t)(indices->rank + 1u);
    memcpy(result->sizes, sizes, sizeof sizes);
    taper_strides_contiguous(result->rank, sizes, result->strides);
    return taper_ret_tensor(call, 0, result);
}

// ---- repeat_interleave

// Computes [0, 0, 1, 2, 2, 2] from the repeats [2, 1, 3]. A single repeat applies to each of `rows` rows, and is
// refused if rows is negative.
static taper_status spread_counts(taper_run *run, const taper_tensor *repeats, int64_t rows, int64_t fixed,
                                  taper_tensor **result)
{
    const bool one = repeats == NULL || repeats->rank == 0 || (repeats->sizes[0] == 1 && rows >= 0);
    const int64_t count = rows >= 0 ? rows : repeats->sizes[0], step = repeats == NULL || one ? 0 : repeats->strides[0];
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!taper_run_step(run, i, 3)) {
            return taper_run_spend(run, 0);
        }
        const int64_t n = repeats == NULL ? fixed : taper_index_at(repeats, i * step);
        if (n < 0) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "repeats can not be negative");
        }
        if (!taper_add_i64(total, n, &total)) {
            return taper_fail(run->error, TAPER_ERROR_RESOURCE, "repeats: the result is too large");
        }
        if (repeats == NULL && n == 0) {
            break;
        }
    }
    TAPER_TRY(taper_index_scratch(run, total, result));
    int64_t *to = taper_tensor_mutable(*result);
    for (int64_t i = 0; i < count && total > 0; i++) {
        const int64_t n = repeats == NULL ? fixed : taper_index_at(repeats, i * step);
        for (int64_t j = 0; j < n && taper_run_step(run, j, 2); j++) {
            *to++ = i;
        }
    }
    return TAPER_OK;
}

static taper_status check_output_size(taper_call *call, size_t at, int64_t size)
{
    int64_t wanted;
    TAPER_TRY(taper_arg_int_or(call, at, size, &wanted));
    return wanted == size
               ? TAPER_OK
               : taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "output_size: %lld is not the sum of repeats, %lld",
                            (long long)wanted, (long long)size);
}

TAPER_KERNEL(taper_op_repeat_interleave_counts)
{
    taper_tensor *repeats, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &repeats));
    TAPER_TRY(taper_check_index(repeats, true, "repeat_interleave", call->run->error));
    if (repeats->rank != 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "repeat_interleave only accept 1D vector as repeat");
    }
    TAPER_TRY(spread_counts(call->run, repeats, -1, 0, &result));
    if (repeats->dtype == TAPER_I32) {
        taper_tensor *small;
        taper_status status =
            taper_tensor_new(call->run->heap, TAPER_I32, 1, result->sizes, NULL, &small, call->run->error);
        if (status == TAPER_OK) {
            status = taper_run_copy(call->run, small, result);
            if (status != TAPER_OK) {
                taper_tensor_drop(small);
            }
        }
        taper_tensor_drop(result);
        TAPER_TRY(status);
        result = small;
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_repeat_interleave)
{
    taper_run *run = call->run;
    taper_tensor *x, *repeats = NULL, *flat = NULL, *index, *result;
    int64_t fixed = 0;
    size_t dim = 0;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (call->args[1].tag == TAPER_INT) {
        TAPER_TRY(taper_arg_int(call, 1, &fixed));
    } else {
        TAPER_TRY(taper_arg_tensor(call, 1, &repeats));
        TAPER_TRY(taper_check_index(repeats, true, "repeat_interleave", run->error));
    }
    if (taper_arg_is_none(call, 2)) {
        TAPER_TRY(taper_index_flat(run, x, &flat));
        x = flat;
    } else {
        const taper_status found = taper_arg_dim(call, 2, x->rank, &dim);
        TAPER_TRY(found);
    }
    const int64_t rows = x->rank == 0 ? 1 : x->sizes[dim];
    taper_status status = TAPER_OK;
    if (repeats != NULL &&
        (repeats->rank > 1 || (repeats->rank == 1 && repeats->sizes[0] != 1 && repeats->sizes[0] != rows))) {
        status = taper_fail(run->error, TAPER_ERROR_ARGUMENT, "repeats must have the same size as input along dim");
    }
    if (status == TAPER_OK) {
        status = spread_counts(run, repeats, rows, fixed, &index);
    }
    if (status == TAPER_OK) {
        status = check_output_size(call, 3, index->sizes[0]);
        if (status == TAPER_OK) {
            status = select_rows(run, x, dim, index, &result);
        }
        taper_tensor_drop(index);
    }
    taper_tensor_drop(flat);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}
