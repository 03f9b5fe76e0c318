// SPDX-License-Identifier: BSD-2-Clause
// Queries that do not read a tensor's elements: size, stride, dim, is_contiguous, …. A hidden NHWC tensor answers as in
// PyTorch, where it is contiguous.
#include "ir/tensor.h"
#include "ops/engine/view_shape.h"
#include "ops/list/shared_kernels.h"

static taper_status ret_int(taper_call *call, int64_t number)
{
    taper_ret(call, 0, taper_val_int(number));
    return TAPER_OK;
}

static taper_status ret_bool(taper_call *call, bool flag)
{
    taper_ret(call, 0, taper_val_bool(flag));
    return TAPER_OK;
}

static taper_status ret_ints(taper_call *call, size_t count, const int64_t *numbers)
{
    taper_list *list = taper_list_new(call->run->heap, &taper_type_int, count);
    if (list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(list));
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_list_append(list, taper_val_int(numbers[i]), call->run->error));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_size)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_ints(call, x->rank, x->sizes);
}

static taper_status pick(taper_call *call, const taper_tensor *x, const int64_t *numbers)
{
    size_t dim;
    int64_t number;
    TAPER_TRY(taper_arg_int(call, 1, &number));
    if (x->rank == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "dimension specified as %lld but tensor has no dimensions", (long long)number);
    }
    TAPER_TRY(taper_wrap_dim_or_fail(number, x->rank, &dim, call->run->error));
    return ret_int(call, numbers[dim]);
}

TAPER_KERNEL(taper_op_size_int)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return pick(call, x, x->sizes);
}

TAPER_KERNEL(taper_op_stride)
{
    taper_tensor *x;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    taper_tensor_logical_strides(x, strides);
    return ret_ints(call, x->rank, strides);
}

TAPER_KERNEL(taper_op_stride_int)
{
    taper_tensor *x;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    taper_tensor_logical_strides(x, strides);
    return pick(call, x, strides);
}

TAPER_KERNEL(taper_op_dim)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_int(call, x->rank);
}

TAPER_KERNEL(taper_op_numel)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_int(call, taper_tensor_numel(x));
}

TAPER_KERNEL(taper_op_len_tensor)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "len() of a 0-d tensor");
    }
    return ret_int(call, x->sizes[0]);
}

TAPER_KERNEL(taper_op_storage_offset)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_int(call, x->offset);
}

TAPER_KERNEL(taper_op_element_size)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_int(call, (int64_t)taper_tensor_item(x));
}

TAPER_KERNEL(taper_op_is_floating_point)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_bool(call, taper_dtype_is_float((taper_dtype)x->dtype));
}

TAPER_KERNEL(taper_op_is_complex)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_bool(call, taper_dtype_is_complex((taper_dtype)x->dtype));
}

TAPER_KERNEL(taper_op_is_signed)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_bool(call, x->dtype != TAPER_U8 && x->dtype != TAPER_BOOL && x->dtype != TAPER_QU8);
}

// Answers false to queries that have this answer for every tensor: is_conj, is_pinned, ….
TAPER_KERNEL(taper_op_answer_false)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_bool(call, false);
}

TAPER_KERNEL(taper_op_answer_true)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_bool(call, true);
}

// Answers false to queries for a backend of PyTorch that Taper does not have: is_vulkan_available.
TAPER_KERNEL(taper_op_backend_absent)
{
    return ret_bool(call, false);
}

TAPER_KERNEL(taper_op_assert_async)
{
    taper_val truth = taper_val_none();
    taper_call question = *call;
    question.schema = NULL;
    question.rets = &truth;
    question.ret_count = 1;
    TAPER_TRY(taper_op_to_bool(&question));
    if (truth.as.i == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_RAISED, "Expected Tensor with single nonzero value, but got zero");
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_answer_zero)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_int(call, 0);
}

TAPER_KERNEL(taper_op_version)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_int(call, x->storage->version);
}

static bool is_format(taper_tensor *x, int64_t format)
{
    (void)taper_tensor_unhide_if_trivial(x);
    if (format == TAPER_FORMAT_CONTIGUOUS) {
        return x->hidden_nhwc || taper_tensor_is_contiguous(x);
    }
    const unsigned rank = format == TAPER_FORMAT_CHANNELS_LAST ? 4 : 5;
    return !x->hidden_nhwc && x->rank == rank && taper_tensor_is_channels_last(x);
}

TAPER_KERNEL(taper_op_is_contiguous)
{
    taper_tensor *x;
    int64_t format;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int_or(call, 1, TAPER_FORMAT_CONTIGUOUS, &format));
    if (format != TAPER_FORMAT_CONTIGUOUS && format != TAPER_FORMAT_CHANNELS_LAST &&
        format != TAPER_FORMAT_CHANNELS_LAST_3D) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "memory_format: is_contiguous does not know format %lld", (long long)format);
    }
    return ret_bool(call, is_format(x, format));
}

TAPER_KERNEL(taper_op_is_strides_like_format)
{
    taper_tensor *x;
    int64_t format;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &format));
    TAPER_TRY(taper_run_settle(call->run, x));
    const unsigned rank = format == TAPER_FORMAT_CHANNELS_LAST ? 4 : format == TAPER_FORMAT_CHANNELS_LAST_3D ? 5 : 0;
    return ret_bool(call, rank != 0 && x->rank == rank && taper_tensor_suggests_channels_last(x));
}

TAPER_KERNEL(taper_op_is_dense)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return ret_bool(call, taper_tensor_is_dense(x));
}

TAPER_KERNEL(taper_op_is_same_size)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    return ret_bool(call, a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof a->sizes[0]) == 0);
}

TAPER_KERNEL(taper_op_is_set_to)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    return ret_bool(call, a->storage == b->storage && a->offset == b->offset && a->rank == b->rank &&
                              memcmp(a->sizes, b->sizes, a->rank * sizeof a->sizes[0]) == 0 &&
                              memcmp(a->strides, b->strides, a->rank * sizeof a->strides[0]) == 0);
}

TAPER_KERNEL(taper_op_shape_as_tensor)
{
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const int64_t count = x->rank;
    TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_I64, 1, &count, NULL, &result, call->run->error));
    memcpy(taper_tensor_mutable(result), x->sizes, x->rank * sizeof x->sizes[0]);
    return taper_ret_tensor(call, 0, result);
}

// Computes arange(like.size(dim)).
TAPER_KERNEL(taper_op_dim_arange)
{
    taper_tensor *x, *result;
    size_t dim;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    const int64_t count = x->rank == 0 ? 1 : x->sizes[dim];
    TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_I64, 1, &count, NULL, &result, call->run->error));
    int64_t *p = taper_tensor_mutable(result);
    for (int64_t i = 0; i < count; i++) {
        p[i] = i;
    }
    return taper_ret_tensor(call, 0, result);
}
