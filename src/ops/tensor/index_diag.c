// SPDX-License-Identifier: BSD-2-Clause
// Operators that read or write diagonals: trace, diag, diagflat, diag_embed and fill_diagonal_.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/index_into.h"

// Adds elements that are `step` bytes apart, with special loops for the usual dtypes.
static taper_scalar sum_of_strided(taper_dtype from, const char *p, int64_t step, int64_t count)
{
    taper_scalar sum = taper_scalar_int(0);
    if (from == TAPER_F32 || from == TAPER_F64) {
        sum.kind = TAPER_SCALAR_DOUBLE;
        for (int64_t i = 0; i < count && from == TAPER_F32; i++, p += step) {
            sum.f += (double)*(const float *)(const void *)p;
        }
        for (int64_t i = 0; i < count && from == TAPER_F64; i++, p += step) {
            sum.f += *(const double *)(const void *)p;
        }
        return sum;
    }
    const bool whole = taper_dtype_is_integral(from) || from == TAPER_BOOL;
    for (int64_t i = 0; i < count; i++, p += step) {
        taper_scalar value;
        taper_scalar_load(from, p, &value);
        sum.kind = whole ? TAPER_SCALAR_INT : value.kind;
        sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)value.i);
        sum.f += value.f;
        sum.im += value.im;
    }
    return sum;
}

TAPER_KERNEL(taper_op_trace)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank != 2) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "trace: expected a matrix, but got tensor with dim %u",
                          (unsigned)x->rank);
    }
    const taper_dtype from = (taper_dtype)x->dtype;
    const taper_dtype dtype = taper_dtype_is_integral(from) || from == TAPER_BOOL ? TAPER_I64 : from;
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, error));
    const int64_t count = taper_min_i64(x->sizes[0], x->sizes[1]);
    const int64_t step = (taper_tensor_step(x, 0) + taper_tensor_step(x, 1)) * (int64_t)item;
    const taper_scalar sum = sum_of_strided(from, taper_tensor_data(x), step, count);
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, 0, NULL, NULL, &result, error));
    taper_scalar_store(dtype, taper_tensor_mutable(result), &sum);
    return taper_ret_tensor(call, 0, result);
}

// Makes a square matrix of zeros with the vector x on a diagonal.
static taper_status matrix_of(taper_call *call, const taper_tensor *x, int64_t offset, taper_tensor **result)
{
    taper_run *run = call->run;
    const int64_t count = x->sizes[0];
    int64_t sizes[2];
    if (offset == INT64_MIN || !taper_add_i64(count, offset < 0 ? -offset : offset, &sizes[0])) {
        return taper_fail(run->error, TAPER_ERROR_RESOURCE, "diagonal: the result is too large");
    }
    sizes[1] = sizes[0];
    TAPER_TRY(taper_run_zeros(run, (taper_dtype)x->dtype, 2, sizes, result));
    const size_t item = taper_tensor_item(x);
    const int64_t start = offset >= 0 ? offset : -offset * sizes[1], to_step = sizes[1] + 1;
    if (count > 0) {
        taper_move(run, item, 1, &count, (char *)taper_tensor_mutable(*result) + start * (int64_t)item, &to_step,
                   taper_tensor_data(x), x->strides);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_diag)
{
    taper_run *run = call->run;
    taper_tensor *x, *result;
    int64_t offset;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &offset));
    TAPER_TRY(taper_move_item(x, &item, run->error));
    if (x->rank == 1) {
        TAPER_TRY(matrix_of(call, x, offset, &result));
        return taper_ret_tensor(call, 0, result);
    }
    if (x->rank != 2) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "diag(): Supports 1D or 2D tensors. Got %uD",
                          (unsigned)x->rank);
    }
    const int64_t rows = x->sizes[0], columns = x->sizes[1];
    if (offset < -rows || offset > columns) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "diagonal: %lld is outside a matrix of %lld by %lld",
                          (long long)offset, (long long)rows, (long long)columns);
    }
    const int64_t count =
        taper_max_i64(0, offset >= 0 ? taper_min_i64(rows, columns - offset) : taper_min_i64(rows + offset, columns));
    TAPER_TRY(taper_tensor_like(run->heap, x, 1, &count, NULL, &result, run->error));
    if (count > 0) {
        const int64_t step = taper_tensor_step(x, 0) + taper_tensor_step(x, 1), one = 1;
        const int64_t start = offset >= 0 ? offset * x->strides[1] : -offset * x->strides[0];
        taper_move(run, item, 1, &count, taper_tensor_mutable(result), &one,
                   (const char *)taper_tensor_data(x) + start * (int64_t)item, &step);
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_diagflat)
{
    taper_tensor *x, *flat, *result;
    int64_t offset;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &offset));
    TAPER_TRY(taper_move_item(x, &item, call->run->error));
    TAPER_TRY(taper_index_flat(call->run, x, &flat));
    const taper_status status = matrix_of(call, flat, offset, &result);
    taper_tensor_drop(flat);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}

TAPER_KERNEL(taper_op_diag_embed)
{
    taper_run *run = call->run;
    taper_tensor *x, *result;
    int64_t offset, given[2];
    size_t item, dims[2];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &offset));
    TAPER_TRY(taper_move_item(x, &item, run->error));
    if (x->rank == 0 || x->rank == TAPER_MAX_RANK) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "diag_embed: self must have between 1 and %d dimensions",
                          TAPER_MAX_RANK - 1);
    }
    const size_t rank = x->rank + 1u;
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_arg_int(call, 2 + i, &given[i]));
        TAPER_TRY(taper_wrap_dim_or_fail(given[i], rank, &dims[i], run->error));
    }
    if (dims[0] == dims[1]) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "diagonal dimensions cannot be identical %lld, %lld",
                          (long long)given[0], (long long)given[1]);
    }
    int64_t sizes[TAPER_MAX_RANK], side;
    if (offset == INT64_MIN || !taper_add_i64(x->sizes[x->rank - 1], offset < 0 ? -offset : offset, &side)) {
        return taper_fail(run->error, TAPER_ERROR_RESOURCE, "offset: the result is too large");
    }
    size_t next = 0;
    for (size_t d = 0; d < rank; d++) {
        sizes[d] = d == dims[0] || d == dims[1] ? side : x->sizes[next++];
    }
    TAPER_TRY(taper_run_zeros(run, (taper_dtype)x->dtype, rank, sizes, &result));
    int64_t strides[TAPER_MAX_RANK];
    next = 0;
    for (size_t d = 0; d < rank; d++) {
        if (d != dims[0] && d != dims[1]) {
            strides[next++] = result->strides[d];
        }
    }
    strides[next] = taper_tensor_step(result, dims[0]) + taper_tensor_step(result, dims[1]);
    const int64_t start = offset >= 0 ? offset * result->strides[dims[1]] : -offset * result->strides[dims[0]];
    if (taper_tensor_numel(x) > 0) {
        taper_move(run, item, x->rank, x->sizes, (char *)taper_tensor_mutable(result) + start * (int64_t)item, strides,
                   taper_tensor_data(x), x->strides);
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_fill_diagonal)
{
    taper_error *error = call->run->error;
    taper_tensor *self;
    taper_scalar value;
    bool wrap;
    TAPER_TRY(taper_arg_scalar(call, 1, &value));
    TAPER_TRY(taper_arg_bool(call, 2, &wrap));
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    if (self->rank < 2) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "dimensions must larger than 1");
    }
    int64_t count = self->sizes[0];
    for (size_t d = 0; d < self->rank; d++) {
        if (self->rank > 2 && self->sizes[d] != self->sizes[0]) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "all dimensions of input must be of equal length");
        }
        count = taper_min_i64(count, self->sizes[d]);
    }
    TAPER_TRY(taper_scalar_check((taper_dtype)self->dtype, &value, error));
    TAPER_TRY(taper_inplace_begin(call, TAPER_FORMAT_PRESERVE, &self));
    int64_t step = 0;
    for (size_t d = 0; d < self->rank; d++) {
        step += taper_tensor_step(self, d);
    }
    const int64_t item = (int64_t)taper_tensor_item(self);
    char *p = taper_tensor_mutable(self);
    for (int64_t i = 0; i < count && taper_run_step(call->run, i, 4); i++) {
        taper_scalar_store((taper_dtype)self->dtype, p + i * step * item, &value);
    }
    // If `wrap` is set, the diagonal of a tall matrix starts again after one free row. A matrix without columns may
    // have any number of rows.
    if (wrap && self->rank == 2 && self->sizes[1] != 0 && self->sizes[0] > self->sizes[1] + 1) {
        const int64_t columns = self->sizes[1];
        for (int64_t row = columns + 1; row < self->sizes[0] && taper_run_step(call->run, row, 4); row++) {
            const int64_t column = row % (columns + 1);
            if (column < columns) {
                taper_scalar_store((taper_dtype)self->dtype,
                                   p + (row * self->strides[0] + column * self->strides[1]) * item, &value);
            }
        }
    }
    return taper_inplace_end(call, self);
}
