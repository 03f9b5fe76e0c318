// SPDX-License-Identifier: BSD-2-Clause
// Arguments, temporaries and results of the linear algebra operators.
#include "ops/linalg/linalg.h"

#include <stdio.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"

taper_status taper_linalg_run(taper_call *call, const char *name, taper_linalg_body body)
{
    taper_linalg w = {.call = call, .run = call->run, .name = name};
    const taper_status status = body(&w);
    for (size_t i = 0; i < TAPER_LINALG_SLOTS; i++) {
        taper_tensor_drop(w.t[i]);
    }
    return status;
}

// ---- arguments

taper_status taper_linalg_fail(const taper_linalg *w, const char *text)
{
    TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: %s", w->name, text);
}

taper_status taper_linalg_check_dtype(const taper_linalg *w, const taper_tensor *tensor)
{
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (dtype != TAPER_F32 && dtype != TAPER_F64 && dtype != TAPER_C64 && dtype != TAPER_C128) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: %s. Got %s", w->name,
                   taper_dtype_is_float(dtype) ? "Low precision dtypes not supported"
                                               : "Expected a floating point or complex tensor as input",
                   taper_dtype_torch_name(dtype));
    }
    return TAPER_OK;
}

taper_status taper_linalg_check_matrix(const taper_linalg *w, const taper_tensor *tensor)
{
    if (tensor->rank < 2) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: The input tensor must have at least 2 dimensions, its sizes are %s", w->name,
                   TAPER_SHAPE(tensor));
    }
    // Pivots and LAPACK use 32-bit positions.
    if (taper_linalg_rows(tensor) > INT32_MAX || taper_linalg_columns(tensor) > INT32_MAX) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_RESOURCE, "%s: matrices of sizes %s are too large", w->name,
                   TAPER_SHAPE(tensor));
    }
    return taper_linalg_check_dtype(w, tensor);
}

taper_status taper_linalg_check_square(const taper_linalg *w, const taper_tensor *tensor)
{
    TAPER_TRY(taper_linalg_check_matrix(w, tensor));
    if (taper_linalg_rows(tensor) != taper_linalg_columns(tensor)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: A must be batches of square matrices, but they are %lld by %lld matrices", w->name,
                   (long long)taper_linalg_rows(tensor), (long long)taper_linalg_columns(tensor));
    }
    return TAPER_OK;
}

taper_status taper_linalg_check_same_dtype(const taper_linalg *w, const taper_tensor *a, const taper_tensor *b)
{
    if (a->dtype != b->dtype) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: Expected A and B to have the same dtype, but found %s and %s", w->name,
                   taper_dtype_torch_name((taper_dtype)a->dtype), taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    return TAPER_OK;
}

taper_status taper_linalg_arg_matrix(const taper_linalg *w, size_t at, taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_tensor(w->call, at, tensor));
    return taper_linalg_check_matrix(w, *tensor);
}

taper_status taper_linalg_arg_square(const taper_linalg *w, size_t at, taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_tensor(w->call, at, tensor));
    return taper_linalg_check_square(w, *tensor);
}

// ---- batches

taper_linalg_batch taper_linalg_batch_of(const taper_tensor *tensor)
{
    taper_linalg_batch batch = {.rank = tensor->rank - 2u};
    for (size_t i = 0; i < batch.rank; i++) {
        batch.sizes[i] = tensor->sizes[i];
    }
    return batch;
}

taper_status taper_linalg_broadcast(const taper_linalg *w, const taper_tensor *a, const taper_tensor *b,
                                    taper_linalg_batch *batch)
{
    batch->rank = 0;
    if (!taper_broadcast_shapes(a->rank - 2u, a->sizes, b->rank - 2u, b->sizes, &batch->rank, batch->sizes)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: the batch dimensions of sizes %s and %s do not broadcast",
                   w->name, TAPER_SHAPE(a), TAPER_SHAPE(b));
    }
    return TAPER_OK;
}

int64_t taper_linalg_count(const taper_linalg_batch *batch)
{
    int64_t count = 1;
    for (size_t i = 0; i < batch->rank; i++) {
        count = taper_wrap_mul(count, batch->sizes[i]); // cannot overflow, unless there are no elements
    }
    return count;
}

int64_t taper_linalg_index(const taper_linalg_batch *batch, int64_t index, const taper_linalg_batch *own)
{
    int64_t result = 0, step = 1;
    for (size_t i = 1; i <= own->rank; i++) {
        const int64_t size = batch->sizes[batch->rank - i], mine = own->sizes[own->rank - i];
        result += mine == 1 ? 0 : index % size * step;
        index /= size;
        step *= mine;
    }
    return result;
}

static void columns_first(size_t rank, const int64_t *sizes, int64_t *strides)
{
    taper_strides_contiguous(rank, sizes, strides);
    if (rank >= 2) {
        strides[rank - 2] = 1;
        strides[rank - 1] = taper_max_i64(sizes[rank - 2], 1);
    }
}

static taper_status new_tensor(taper_linalg *w, size_t slot, taper_dtype dtype, const taper_linalg_batch *batch,
                               size_t inner, const int64_t *last)
{
    int64_t sizes[TAPER_MAX_RANK + 2], strides[TAPER_MAX_RANK + 2];
    const size_t rank = batch->rank + inner;
    if (rank > TAPER_MAX_RANK) {
        return taper_linalg_fail(w, "too many dimensions");
    }
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = i < batch->rank ? batch->sizes[i] : last[i - batch->rank];
    }
    taper_tensor_drop(w->t[slot]);
    w->t[slot] = NULL;
    if (inner == 2) {
        columns_first(rank, sizes, strides);
    }
    return taper_tensor_new(w->run->heap, dtype, rank, sizes, inner == 2 ? strides : NULL, &w->t[slot], w->run->error);
}

taper_status taper_linalg_new(taper_linalg *w, size_t slot, taper_dtype dtype, const taper_linalg_batch *batch,
                              int64_t rows, int64_t columns)
{
    return new_tensor(w, slot, dtype, batch, 2, (const int64_t[]){rows, columns});
}

taper_status taper_linalg_new_vectors(taper_linalg *w, size_t slot, taper_dtype dtype, const taper_linalg_batch *batch,
                                      int64_t n)
{
    return new_tensor(w, slot, dtype, batch, n < 0 ? 0 : 1, &n);
}

taper_status taper_linalg_new_empty(taper_linalg *w, size_t slot, taper_dtype dtype)
{
    return taper_linalg_new_vectors(w, slot, dtype, &(taper_linalg_batch){.rank = 0}, 0);
}

taper_status taper_linalg_room(taper_linalg *w, size_t slot, int64_t count, size_t item, void **room)
{
    int64_t bytes;
    if (!taper_mul_i64(count, (int64_t)item, &bytes)) {
        return taper_fail_memory(w->run->error);
    }
    TAPER_TRY(taper_linalg_new_vectors(w, slot, TAPER_U8, &(taper_linalg_batch){.rank = 0}, taper_max_i64(bytes, 1)));
    *room = taper_tensor_mutable(w->t[slot]);
    return TAPER_OK;
}

taper_status taper_linalg_take(taper_linalg *w, size_t slot, const taper_tensor *tensor,
                               const taper_linalg_batch *batch, taper_dtype dtype)
{
    const taper_linalg_batch own = taper_linalg_batch_of(tensor);
    TAPER_TRY(taper_linalg_new(w, slot, dtype, batch == NULL ? &own : batch, taper_linalg_rows(tensor),
                               taper_linalg_columns(tensor)));
    taper_tensor *const copy = w->t[slot];
    int64_t strides[TAPER_MAX_RANK];
    if (!taper_broadcast_strides(tensor, copy->rank, copy->sizes, strides)) {
        return taper_linalg_fail(w, "the batch dimensions do not broadcast");
    }
    const taper_tensor twin = taper_tensor_twin(tensor, copy->rank, copy->sizes, strides);
    return taper_run_copy(w->run, copy, &twin);
}

taper_dense taper_linalg_matrix(const taper_linalg *w, taper_tensor *tensor, int64_t index)
{
    const int64_t rows = taper_linalg_rows(tensor), columns = taper_linalg_columns(tensor);
    const bool complex = tensor->dtype == TAPER_C128;
    return (taper_dense){taper_linalg_doubles(tensor) + index * rows * columns * (complex ? 2 : 1),
                         rows,
                         columns,
                         tensor->strides[tensor->rank - 2u],
                         tensor->strides[tensor->rank - 1u],
                         complex,
                         false,
                         w->run};
}

taper_status taper_linalg_zero(const taper_linalg *w, size_t slot)
{
    taper_tensor *const tensor = w->t[slot];
    const size_t bytes = (size_t)taper_tensor_numel(tensor) * taper_tensor_item(tensor);
    return bytes == 0 ? TAPER_OK : taper_run_memset(w->run, taper_tensor_mutable(tensor), 0, bytes);
}

bool taper_linalg_finite(const taper_tensor *tensor, int64_t index, int64_t count)
{
    const taper_dtype dtype = (taper_dtype)tensor->dtype, part = taper_dtype_to_real(dtype);
    const int64_t width = taper_dtype_is_complex(dtype) ? 2 : 1;
    bool finite = true;
    if (part == TAPER_F32) {
        const float *x = (const float *)taper_tensor_data(tensor) + index * width;
        for (int64_t i = 0; i < count * width; i++) {
            finite = finite && isfinite(x[i]);
        }
    } else {
        const double *x = (const double *)taper_tensor_data(tensor) + index * width;
        for (int64_t i = 0; i < count * width; i++) {
            finite = finite && isfinite(x[i]);
        }
    }
    return finite;
}

// ---- results

taper_status taper_linalg_ret(taper_linalg *w, size_t at, size_t slot, taper_dtype dtype, taper_linalg_order order)
{
    taper_tensor *const value = w->t[slot], *const target = taper_ret_target(w->call, at);
    int64_t strides[TAPER_MAX_RANK];
    if (order == TAPER_BY_COLUMNS) {
        columns_first(value->rank, value->sizes, strides);
    } else {
        taper_strides_contiguous(value->rank, value->sizes, strides);
    }
    if (target == NULL && value->dtype == dtype &&
        memcmp(strides, value->strides, value->rank * sizeof *strides) == 0) {
        w->t[slot] = NULL;
        taper_ret(w->call, at, TAPER_VAL(value));
        return TAPER_OK;
    }
    taper_tensor *result;
    if (target != NULL) {
        TAPER_TRY(taper_check_cast(dtype, (taper_dtype)target->dtype, w->run->error));
    }
    TAPER_TRY(taper_ret_new(w->call, at, dtype, value->rank, value->sizes, strides, &result));
    return taper_run_copy(w->run, result, value);
}

taper_status taper_linalg_check_infos(taper_run *run, const char *name, const taper_tensor *infos, bool single)
{
    const int32_t *info = taper_tensor_data(infos);
    const int64_t count = taper_tensor_numel(infos);
    int64_t at = 0;
    while (at < count && info[at] == 0) {
        at++;
    }
    if (at == count) {
        return TAPER_OK;
    }
    char where[48] = "";
    if (!single) {
        (void)snprintf(where, sizeof where, ": (Batch element %lld)", (long long)at);
    }
    const int number = (int)info[at];
    taper_error *const error = run->error;
    if (number < 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s%s: Argument %lld has illegal value.", name, where,
                   -(long long)number);
    }
    if (strstr(name, "inv") != NULL) {
        TAPER_FAIL(
            error, TAPER_ERROR_ARGUMENT,
            "%s%s: The diagonal element %d is zero, the inversion could not be completed because the input matrix "
            "is singular.",
            name, where, number);
    }
    if (strstr(name, "solve") != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s%s: The solver failed because the input matrix is singular.", name,
                   where);
    }
    if (strstr(name, "cholesky") != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "%s%s: The factorization could not be completed because the input is not positive-definite (the "
                   "leading minor of order %d is not positive-definite).",
                   name, where, number);
    }
    if (strstr(name, "svd") != NULL || strstr(name, "eig") != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "%s%s: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                   "repeated %s values (error code: %d).",
                   name, where, strstr(name, "svd") != NULL ? "singular" : "eigen", number);
    }
    if (strstr(name, "lstsq") != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "%s%s: The least squares solution could not be computed because the input matrix does not have full "
                   "rank (error code: %d).",
                   name, where, number);
    }
    if (strstr(name, "lu_factor") != NULL) {
        TAPER_FAIL(
            error, TAPER_ERROR_ARGUMENT,
            "%s%s: U[%d,%d] is zero and using it on lu_solve would result in a division by zero. If you still want "
            "to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
            name, where, number, number);
    }
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s%s: the factorization failed (error code: %d)", name, where, number);
}

TAPER_KERNEL(taper_op_linalg_check_errors)
{
    taper_tensor *infos, *own;
    const taper_string *name;
    bool single;
    TAPER_TRY(taper_arg_tensor(call, 0, &infos));
    TAPER_TRY(taper_arg_string(call, 1, &name));
    TAPER_TRY(taper_arg_bool(call, 2, &single));
    if (infos->dtype != TAPER_I32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'info': expected an int32 tensor");
    }
    TAPER_TRY(taper_run_contiguous(call->run, infos, &own));
    const taper_status status = taper_linalg_check_infos(call->run, name->data, own, single);
    taper_tensor_drop(own);
    return status;
}
