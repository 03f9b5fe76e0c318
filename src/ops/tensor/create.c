// SPDX-License-Identifier: BSD-2-Clause
// empty, zeros, ones and full, with their _like, new_ and .out overloads; scalar_tensor and eye.
#include "ops/tensor/create.h"

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"

// The definition that compilers link if they call the inline function instead of inlining it.
extern void taper_put_double(taper_dtype dtype, void *data, int64_t index, double value);

taper_status taper_create_options(const taper_call *call, size_t at, taper_dtype otherwise, taper_dtype *dtype)
{
    const taper_tensor *target = taper_ret_argument(call, 0);
    if (target != NULL) {
        *dtype = (taper_dtype)target->dtype;
        return TAPER_OK;
    }
    int64_t layout;
    TAPER_TRY(taper_arg_dtype_or(call, at, otherwise, dtype));
    TAPER_TRY(taper_arg_int_or(call, at + 1, 0, &layout));
    if (layout != 0) {
        return taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED, "layout: only strided tensors are supported");
    }
    return TAPER_OK;
}

taper_status taper_create_new(taper_call *call, taper_dtype dtype, size_t rank, const int64_t *sizes,
                              taper_tensor **tensor)
{
    return taper_tensor_new(call->run->heap, dtype, rank, sizes, NULL, tensor, call->run->error);
}

taper_dtype taper_create_dtype(const taper_scalar *scalar)
{
    static const taper_dtype dtypes[] = {TAPER_BOOL, TAPER_I64, TAPER_F32, TAPER_C64};
    return dtypes[scalar->kind];
}

taper_status taper_create_sizes(const taper_call *call, size_t at, size_t *rank, int64_t *sizes)
{
    TAPER_TRY(taper_arg_ints(call, at, 0, TAPER_MAX_RANK, sizes, rank));
    for (size_t d = 0; d < *rank; d++) {
        if (sizes[d] < 0) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                              "Trying to create tensor with negative dimension %lld: %s", (long long)sizes[d],
                              taper_sizes_print(*rank, sizes).text);
        }
    }
    return TAPER_OK;
}

taper_status taper_create_count(taper_error *error, const char *name, int64_t count)
{
    if (count < 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s: %lld is negative", name, (long long)count);
    }
    if (count > TAPER_LIMIT_TENSOR_BYTES) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "%s: %lld elements are too many", name, (long long)count);
    }
    return TAPER_OK;
}

// ---- tensors of given sizes

// Sets result 0 to a filled tensor. The arguments are sizes, then the value in some overloads, then dtype.
static taper_status filled(taper_call *call, size_t sizes_at, size_t dtype_at, taper_dtype otherwise,
                           const taper_scalar *scalar)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_create_sizes(call, sizes_at, &rank, sizes));
    TAPER_TRY(taper_create_options(call, dtype_at, otherwise, &dtype));
    TAPER_TRY(taper_ret_new(call, 0, dtype, rank, sizes, NULL, &result));
    return scalar == NULL ? TAPER_OK : taper_tensor_fill(call->run, result, scalar);
}

static taper_status self_dtype(const taper_call *call, taper_dtype *dtype)
{
    taper_tensor *self;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    *dtype = (taper_dtype)self->dtype;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_zeros)
{
    const taper_scalar zero = taper_scalar_int(0);
    return filled(call, 0, 1, TAPER_F32, &zero);
}

TAPER_KERNEL(taper_op_ones)
{
    const taper_scalar one = taper_scalar_int(1);
    return filled(call, 0, 1, TAPER_F32, &one);
}

TAPER_KERNEL(taper_op_full)
{
    taper_scalar value;
    TAPER_TRY(taper_arg_scalar(call, 1, &value));
    return filled(call, 0, 2, taper_create_dtype(&value), &value);
}

TAPER_KERNEL(taper_op_new_empty)
{
    taper_dtype dtype;
    TAPER_TRY(self_dtype(call, &dtype));
    return filled(call, 1, 2, dtype, NULL);
}

TAPER_KERNEL(taper_op_new_zeros)
{
    taper_dtype dtype;
    const taper_scalar zero = taper_scalar_int(0);
    TAPER_TRY(self_dtype(call, &dtype));
    return filled(call, 1, 2, dtype, &zero);
}

TAPER_KERNEL(taper_op_new_ones)
{
    taper_dtype dtype;
    const taper_scalar one = taper_scalar_int(1);
    TAPER_TRY(self_dtype(call, &dtype));
    return filled(call, 1, 2, dtype, &one);
}

TAPER_KERNEL(taper_op_new_full)
{
    taper_dtype dtype;
    taper_scalar value;
    TAPER_TRY(self_dtype(call, &dtype));
    TAPER_TRY(taper_arg_scalar(call, 2, &value));
    return filled(call, 1, 3, dtype, &value);
}

TAPER_KERNEL(taper_op_empty)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], format;
    size_t rank;
    taper_dtype dtype;
    taper_tensor *result;
    const bool out = taper_ret_argument(call, 0) != NULL;
    TAPER_TRY(taper_create_sizes(call, 0, &rank, sizes));
    TAPER_TRY(taper_create_options(call, 1, TAPER_F32, &dtype));
    TAPER_TRY(taper_arg_int_or(call, out ? 1 : 5, TAPER_FORMAT_CONTIGUOUS, &format));
    taper_strides_contiguous(rank, sizes, strides);
    if (format == TAPER_FORMAT_CHANNELS_LAST || format == TAPER_FORMAT_CHANNELS_LAST_3D) {
        if (rank != (format == TAPER_FORMAT_CHANNELS_LAST ? 4u : 5u)) {
            return taper_fail(
                call->run->error, TAPER_ERROR_ARGUMENT, "required rank %d tensor to use channels_last%s format",
                format == TAPER_FORMAT_CHANNELS_LAST ? 4 : 5, format == TAPER_FORMAT_CHANNELS_LAST ? "" : "_3d");
        }
        taper_strides_channels_last(rank, sizes, strides);
    } else if (format != TAPER_FORMAT_CONTIGUOUS) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "memory_format: %lld is not possible here",
                          (long long)format);
    }
    return taper_ret_new(call, 0, dtype, rank, sizes, strides, &result);
}

static taper_status empty_strided(taper_call *call, size_t sizes_at, taper_dtype otherwise)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    size_t rank, count;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_create_sizes(call, sizes_at, &rank, sizes));
    TAPER_TRY(taper_arg_ints(call, sizes_at + 1, 0, TAPER_MAX_RANK, strides, &count));
    TAPER_TRY(taper_create_options(call, sizes_at + 2, otherwise, &dtype));
    if (count != rank) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "mismatch in length of strides and shape: %zu and %zu", count, rank);
    }
    for (size_t d = 0; d < count; d++) {
        if (strides[d] < 0) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                              "stride: negative strides are not supported, got %lld", (long long)strides[d]);
        }
    }
    return taper_ret_new(call, 0, dtype, rank, sizes, strides, &result);
}

// Computes empty_permuted, whose result is contiguous in the order of dimensions that the argument physical_layout
// gives.
TAPER_KERNEL(taper_op_empty_permuted)
{
    int64_t sizes[TAPER_MAX_RANK], order[TAPER_MAX_RANK], lying[TAPER_MAX_RANK], steps[TAPER_MAX_RANK],
        strides[TAPER_MAX_RANK];
    bool seen[TAPER_MAX_RANK] = {false};
    size_t rank, count;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_create_sizes(call, 0, &rank, sizes));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, order, &count));
    TAPER_TRY(taper_create_options(call, 2, TAPER_F32, &dtype));
    bool fits = count == rank;
    for (size_t d = 0; d < rank && fits; d++) {
        fits = order[d] >= 0 && order[d] < (int64_t)rank && !seen[order[d]];
        if (fits) {
            seen[order[d]] = true;
            lying[d] = sizes[order[d]];
        }
    }
    if (!fits) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "argument 'physical_layout' should be an order of the %zu dimensions", rank);
    }
    taper_strides_contiguous(rank, lying, steps);
    for (size_t d = 0; d < rank; d++) {
        strides[order[d]] = steps[d];
    }
    return taper_ret_new(call, 0, dtype, rank, sizes, strides, &result);
}

TAPER_KERNEL(taper_op_empty_strided)
{
    return empty_strided(call, 0, TAPER_F32);
}

TAPER_KERNEL(taper_op_new_empty_strided)
{
    taper_dtype dtype;
    TAPER_TRY(self_dtype(call, &dtype));
    return empty_strided(call, 1, dtype);
}

// ---- tensors with the sizes of another tensor

taper_status taper_create_like(taper_call *call, size_t dtype_at, taper_tensor **result)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_dtype dtype;
    int64_t format, strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_create_options(call, dtype_at, (taper_dtype)x->dtype, &dtype));
    TAPER_TRY(taper_arg_int_or(call, taper_ret_argument(call, 0) != NULL ? dtype_at : dtype_at + 4,
                               TAPER_FORMAT_PRESERVE, &format));
    TAPER_TRY(taper_like_strides(x, format, strides, error));
    TAPER_TRY(taper_ret_new(call, 0, dtype, x->rank, x->sizes, strides, result));
    if (x->quantizer != NULL && (*result)->quantizer == NULL && (*result)->dtype == x->dtype) {
        TAPER_TRY(taper_tensor_set_quantizer(*result, x->quantizer, error));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_empty_like)
{
    taper_tensor *result;
    return taper_create_like(call, 1, &result);
}

TAPER_KERNEL(taper_op_zeros_like)
{
    taper_tensor *result;
    const taper_scalar zero = taper_scalar_int(0);
    TAPER_TRY(taper_create_like(call, 1, &result));
    return taper_tensor_fill(call->run, result, &zero);
}

TAPER_KERNEL(taper_op_ones_like)
{
    taper_tensor *result;
    const taper_scalar one = taper_scalar_int(1);
    TAPER_TRY(taper_create_like(call, 1, &result));
    return taper_tensor_fill(call->run, result, &one);
}

TAPER_KERNEL(taper_op_full_like)
{
    taper_tensor *result;
    taper_scalar value;
    TAPER_TRY(taper_arg_scalar(call, 1, &value));
    TAPER_TRY(taper_create_like(call, 2, &result));
    return taper_tensor_fill(call->run, result, &value);
}

// ---- scalar_tensor, eye

TAPER_KERNEL(taper_op_scalar_tensor)
{
    taper_scalar value;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_scalar(call, 0, &value));
    TAPER_TRY(taper_create_options(call, 1, TAPER_F32, &dtype));
    TAPER_TRY(taper_ret_new(call, 0, dtype, 0, NULL, NULL, &result));
    return taper_tensor_fill(call->run, result, &value);
}

static taper_status eye(taper_call *call, int64_t rows, int64_t columns, size_t dtype_at)
{
    taper_error *error = call->run->error;
    taper_dtype dtype;
    taper_tensor *result;
    if (rows < 0 || columns < 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s must be greater or equal to 0, got %lld",
                          rows < 0 ? "n" : "m", (long long)(rows < 0 ? rows : columns));
    }
    TAPER_TRY(taper_create_options(call, dtype_at, TAPER_F32, &dtype));
    const int64_t sizes[2] = {rows, columns};
    TAPER_TRY(taper_ret_new(call, 0, dtype, 2, sizes, NULL, &result));
    const taper_scalar zero = taper_scalar_int(0), one = taper_scalar_int(1);
    TAPER_TRY(taper_tensor_fill(call->run, result, &zero));
    const int64_t step =
        (taper_tensor_step(result, 0) + taper_tensor_step(result, 1)) * (int64_t)taper_tensor_item(result);
    char *p = taper_tensor_mutable(result);
    const int64_t count = taper_min_i64(rows, columns);
    for (int64_t i = 0; i < count; i++) {
        taper_scalar_store((taper_dtype)result->dtype, p + i * step, &one);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_eye)
{
    int64_t n;
    TAPER_TRY(taper_arg_int(call, 0, &n));
    return eye(call, n, n, 1);
}

TAPER_KERNEL(taper_op_eye_m)
{
    int64_t n, m;
    TAPER_TRY(taper_arg_int(call, 0, &n));
    TAPER_TRY(taper_arg_int(call, 1, &m));
    return eye(call, n, m, 2);
}
