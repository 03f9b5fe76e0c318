// SPDX-License-Identifier: BSD-2-Clause
// Views with a new shape over the same elements in the same order: view, reshape, flatten, squeeze, expand, ….
#include "ops/engine/view_shape.h"
#include "ops/list/shared_kernels.h"
#include "ops/tensor/composite.h"

// ---- x_copy and x_

// Copies `from` into the out tensor `to` as PyTorch does: like copy_, which broadcasts and does not resize.
static taper_status copy_into(taper_call *call, taper_tensor *to, taper_tensor *from)
{
    taper_compose c;
    taper_compose_begin(&c, call->run);
    TAPER_COMPOSE(&c, taper_op_copy_, 0, TAPER_VAL(to), TAPER_VAL(from));
    return taper_compose_end(&c);
}

static taper_status copy_result(taper_call *call, taper_tensor *view, int64_t format)
{
    taper_tensor *result = taper_ret_target(call, 0);
    if (result == NULL) {
        TAPER_TRY(taper_view_clone(call->run, view, format, &result));
    } else {
        TAPER_TRY(copy_into(call, result, view));
        taper_obj_retain(&result->head);
    }
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}

static taper_status copy_list(taper_call *call, taper_list *list)
{
    taper_error *error = call->run->error;
    taper_list *out = NULL;
    if (call->schema != NULL && (call->schema->out_count > 0 || call->schema->ret_count == 0)) {
        TAPER_TRY(taper_arg_list(call, call->arg_count - 1, &out));
        if (out->count != list->count) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "out: expected %zu tensors, got %zu", list->count,
                              out->count);
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        taper_tensor *const piece = list->items[i].as.tensor, *to;
        if (out == NULL) {
            TAPER_TRY(taper_view_clone(call->run, piece, TAPER_FORMAT_PRESERVE, &to));
            taper_val_replace(&list->items[i], TAPER_VAL(to));
            continue;
        }
        TAPER_TRY(taper_arg_tensor_item(call, call->arg_count - 1, i, false, &to));
        if (taper_op_has(call->op, TAPER_OP_OUT_COPY)) {
            TAPER_TRY(taper_out_resize(call, to, piece->rank, piece->sizes, NULL));
        }
        TAPER_TRY(copy_into(call, to, piece));
    }
    return TAPER_OK;
}

taper_status taper_view_copied(taper_call *call, taper_kernel kernel)
{
    taper_val result = taper_val_none();
    taper_call inner = *call;
    inner.rets = &result;
    inner.ret_count = 1;
    taper_status status = kernel(&inner);
    if (status == TAPER_OK && result.tag == TAPER_LIST) {
        status = copy_list(call, result.as.list);
        if (status == TAPER_OK && call->ret_count > 0) {
            taper_ret(call, 0, taper_val_retain(result));
        }
    } else if (status == TAPER_OK) {
        status = copy_result(call, result.as.tensor, TAPER_FORMAT_PRESERVE);
    }
    taper_val_release(result);
    return status;
}

taper_status taper_view_in_place(taper_call *call, taper_kernel kernel)
{
    taper_tensor *self;
    TAPER_TRY(taper_arg_plain(call, 0, &self));
    TAPER_TRY(kernel(call));
    taper_view view;
    taper_view_of(call->rets[0].as.tensor, &view);
    TAPER_TRY(taper_view_assign(call->run, self, &view));
    taper_view_ret_same(call, 0, self);
    return TAPER_OK;
}

#define COPIED(name, base)                                                                                             \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return taper_view_copied(call, base);                                                                          \
    }
#define IN_PLACE(name, base)                                                                                           \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return taper_view_in_place(call, base);                                                                        \
    }

// ---- view and reshape

TAPER_KERNEL(taper_op_view)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t sizes[TAPER_MAX_RANK];
    taper_view view = {.offset = x->offset};
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &view.rank));
    TAPER_TRY(taper_shape_infer(taper_tensor_numel(x), view.rank, sizes, view.sizes, call->run->error));
    if (!taper_shape_strides(x, view.rank, view.sizes, view.strides)) {
        return taper_fail(
            call->run->error, TAPER_ERROR_ARGUMENT,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.");
    }
    return taper_view_ret(call, 0, x, &view);
}

static taper_status ret_reshape(taper_call *call, const taper_tensor *x, size_t rank, const int64_t *sizes)
{
    taper_tensor *result;
    TAPER_TRY(taper_reshape(call->run, x, rank, sizes, &result));
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_reshape)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &rank));
    return ret_reshape(call, x, rank, sizes);
}

TAPER_KERNEL(taper_op_view_copy)
{
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &rank));
    TAPER_TRY(taper_reshape(call->run, x, rank, sizes, &result));
    const taper_status status = copy_result(call, result, TAPER_FORMAT_CONTIGUOUS);
    taper_tensor_drop(result);
    return status;
}

TAPER_KERNEL(taper_op_view_as)
{
    taper_tensor *x, *other;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &other));
    taper_view view = {.rank = other->rank, .offset = x->offset};
    TAPER_TRY(taper_shape_infer(taper_tensor_numel(x), other->rank, other->sizes, view.sizes, call->run->error));
    if (!taper_shape_strides(x, view.rank, view.sizes, view.strides)) {
        return taper_fail(
            call->run->error, TAPER_ERROR_ARGUMENT,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.");
    }
    return taper_view_ret(call, 0, x, &view);
}

TAPER_KERNEL(taper_op_reshape_as)
{
    taper_tensor *x, *other;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &other));
    return ret_reshape(call, x, other->rank, other->sizes);
}

TAPER_KERNEL(taper_op_reshape_from_tensor)
{
    taper_tensor *x, *shape;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &shape));
    if (shape->rank != 1 || shape->dtype != TAPER_I64 || shape->sizes[0] > TAPER_MAX_RANK) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "shape: expected a one-dimensional int64 tensor");
    }
    int64_t sizes[TAPER_MAX_RANK];
    for (int64_t i = 0; i < shape->sizes[0]; i++) {
        sizes[i] = taper_load_int(TAPER_I64, taper_tensor_data(shape), i * shape->strides[0]);
    }
    return ret_reshape(call, x, (size_t)shape->sizes[0], sizes);
}

// Computes _reshape_alias, a view with given sizes and strides. reshape has computed the strides.
TAPER_KERNEL(taper_op_reshape_alias)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    taper_view view = {.offset = x->offset};
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, view.sizes, &view.rank));
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, view.strides, &count));
    if (count != view.rank) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "mismatch in length of strides and shape");
    }
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_reshape_alias_copy, taper_op_reshape_alias)

TAPER_KERNEL(taper_op_flatten)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    size_t first, last;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &first));
    TAPER_TRY(taper_arg_dim(call, 2, x->rank, &last));
    if (first > last) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "flatten() has invalid args: start_dim cannot come after end_dim");
    }
    if (x->rank == 0) {
        const int64_t one = 1;
        return ret_reshape(call, x, 1, &one);
    }
    if (first == last) {
        taper_view_ret_same(call, 0, x);
        return TAPER_OK;
    }
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t d = 0; d < x->rank; d++) {
        if (d > first && d <= last) {
            // The product of the sizes may overflow if another dimension has size 0.
            if (!taper_mul_i64(sizes[first], x->sizes[d], &sizes[first])) {
                return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "self: its sizes are too large to flatten");
            }
        } else {
            sizes[rank++] = x->sizes[d];
        }
    }
    return ret_reshape(call, x, rank, sizes);
}

TAPER_KERNEL(taper_op_unflatten)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    size_t dim, count;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    int64_t parts[TAPER_MAX_RANK], wanted[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, wanted, &count));
    if (count == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "unflatten: sizes must be non-empty");
    }
    if (x->rank == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "unflatten: self has no dimensions");
    }
    if (taper_shape_infer(x->sizes[dim], count, wanted, parts, error) != TAPER_OK) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "unflatten: Provided sizes %s don't multiply up to the size of dim %zu (%lld) in the input tensor",
            taper_sizes_print(count, wanted).text, dim, (long long)x->sizes[dim]);
    }
    if (x->rank - 1u + count > TAPER_MAX_RANK) {
        return taper_rank_refused(error);
    }
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t d = 0; d < x->rank; d++) {
        for (size_t i = 0; d == dim && i < count; i++) {
            sizes[rank++] = parts[i];
        }
        if (d != dim) {
            sizes[rank++] = x->sizes[d];
        }
    }
    taper_view view = {.rank = rank, .offset = x->offset};
    TAPER_TRY(taper_shape_infer(taper_tensor_numel(x), rank, sizes, view.sizes, error));
    if (!taper_shape_strides(x, rank, view.sizes, view.strides)) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.");
    }
    return taper_view_ret(call, 0, x, &view);
}

TAPER_KERNEL(taper_op_ravel)
{
    taper_tensor *x, *plain;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    const taper_view view = {.rank = 1, .offset = plain->offset, .sizes = {taper_tensor_numel(plain)}, .strides = {1}};
    const taper_status status = taper_view_ret(call, 0, plain, &view);
    taper_tensor_drop(plain);
    return status;
}

// ---- squeeze and unsqueeze

TAPER_KERNEL(taper_op_squeeze)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    taper_view view;
    taper_view_of(x, &view);
    for (size_t d = view.rank; d-- > 0;) {
        if (view.sizes[d] == 1) {
            taper_view_remove(&view, d);
        }
    }
    return taper_view_ret(call, 0, x, &view);
}

TAPER_KERNEL(taper_op_squeeze_dim)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    size_t dim;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    taper_view view;
    taper_view_of(x, &view);
    if (x->rank > 0 && view.sizes[dim] == 1) {
        taper_view_remove(&view, dim);
    }
    return taper_view_ret(call, 0, x, &view);
}

TAPER_KERNEL(taper_op_squeeze_dims)
{
    taper_tensor *x;
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    bool gone[TAPER_MAX_RANK] = {false};
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, &count));
    for (size_t i = 0; i < count; i++) {
        size_t dim;
        TAPER_TRY(taper_wrap_dim_or_fail(dims[i], x->rank, &dim, call->run->error));
        if (gone[dim]) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "dim %zu appears multiple times in the list of dims",
                       dim);
        }
        gone[dim] = true;
    }
    taper_view view;
    taper_view_of(x, &view);
    for (size_t d = view.rank; d-- > 0;) {
        if (gone[d] && view.sizes[d] == 1) {
            taper_view_remove(&view, d);
        }
    }
    return taper_view_ret(call, 0, x, &view);
}

TAPER_KERNEL(taper_op_unsqueeze)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    size_t dim;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank + 1u, &dim));
    taper_view view;
    taper_view_of(x, &view);
    const int64_t stride = dim >= x->rank ? 1 : taper_wrap_mul(x->sizes[dim], x->strides[dim]);
    TAPER_TRY(taper_view_insert(&view, dim, 1, stride, call->run->error));
    return taper_view_ret(call, 0, x, &view);
}

COPIED(taper_op_reshape_copy, taper_op_reshape)
COPIED(taper_op_squeeze_copy, taper_op_squeeze)
COPIED(taper_op_squeeze_dim_copy, taper_op_squeeze_dim)
COPIED(taper_op_squeeze_dims_copy, taper_op_squeeze_dims)
COPIED(taper_op_unsqueeze_copy, taper_op_unsqueeze)
IN_PLACE(taper_op_squeeze_, taper_op_squeeze)
IN_PLACE(taper_op_squeeze_dim_, taper_op_squeeze_dim)
IN_PLACE(taper_op_squeeze_dims_, taper_op_squeeze_dims)
IN_PLACE(taper_op_unsqueeze_, taper_op_unsqueeze)

// Returns the tensor itself, or a view with dimensions of size 1 added up to `rank`, as numpy's atleast_Nd does.
static taper_status at_least(taper_call *call, taper_tensor *x, size_t rank, taper_tensor **result)
{
    if (x->rank >= rank) {
        taper_obj_retain(&x->head);
        *result = x;
        return TAPER_OK;
    }
    taper_view view;
    taper_view_of(x, &view);
    TAPER_TRY(taper_view_raise(&view, rank, call->run->error));
    return taper_view_make(call->run, x, &view, result);
}

static taper_status ret_at_least(taper_call *call, size_t rank)
{
    taper_tensor *x, *result;
    if (call->args[0].tag == TAPER_LIST) {
        taper_list *in, *list;
        TAPER_TRY(taper_arg_list(call, 0, &in));
        TAPER_TRY(taper_ret_tensor_list(call, 0, in->count, &list));
        for (size_t i = 0; i < in->count; i++) {
            TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
            TAPER_TRY(at_least(call, x, rank, &result));
            TAPER_TRY(taper_tensor_list_add(call, list, result));
        }
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(at_least(call, x, rank, &result));
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_atleast_1d)
{
    return ret_at_least(call, 1);
}
TAPER_KERNEL(taper_op_atleast_2d)
{
    return ret_at_least(call, 2);
}
TAPER_KERNEL(taper_op_atleast_3d)
{
    return ret_at_least(call, 3);
}

// ---- expand

TAPER_KERNEL(taper_op_expand)
{
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &rank));
    TAPER_TRY(taper_expand(call->run, x, rank, sizes, &result));
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}
COPIED(taper_op_expand_copy, taper_op_expand)

TAPER_KERNEL(taper_op_expand_as)
{
    taper_tensor *x, *other, *result;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &other));
    TAPER_TRY(taper_expand(call->run, x, other->rank, other->sizes, &result));
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_broadcast_tensors)
{
    taper_list *in, *list;
    TAPER_TRY(taper_arg_list(call, 0, &in));
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    taper_tensor *x, *result;
    for (size_t i = 0; i < in->count; i++) {
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        if (!taper_broadcast_sizes(&rank, sizes, x->rank, x->sizes)) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                              "tensors: the sizes %s of tensor %zu do not broadcast with those before it, %s",
                              taper_sizes_print(x->rank, x->sizes).text, i, taper_sizes_print(rank, sizes).text);
        }
    }
    TAPER_TRY(taper_ret_tensor_list(call, 0, in->count, &list));
    for (size_t i = 0; i < in->count; i++) {
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        TAPER_TRY(taper_expand(call->run, x, rank, sizes, &result));
        TAPER_TRY(taper_tensor_list_add(call, list, result));
    }
    return TAPER_OK;
}
