// SPDX-License-Identifier: BSD-2-Clause
// Views that reorder, cut or restride dimensions: transpose, permute, select, slice, diagonal, unfold, as_strided, ….
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"

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

static taper_status arg_view(taper_call *call, taper_tensor **x, taper_view *view)
{
    TAPER_TRY(taper_arg_plain(call, 0, x));
    taper_view_of(*x, view);
    return TAPER_OK;
}

// ---- order of dimensions

static void swap_dims(taper_view *view, size_t a, size_t b)
{
    const int64_t size = view->sizes[a], stride = view->strides[a];
    view->sizes[a] = view->sizes[b];
    view->strides[a] = view->strides[b];
    view->sizes[b] = size;
    view->strides[b] = stride;
}

TAPER_KERNEL(taper_op_transpose)
{
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    size_t a, b;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &a));
    TAPER_TRY(taper_arg_dim(call, 2, x->rank, &b));
    swap_dims(&view, a, b); // makes a view even if the two dimensions are the same, as in PyTorch
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_transpose_copy, taper_op_transpose)
IN_PLACE(taper_op_transpose_, taper_op_transpose)

TAPER_KERNEL(taper_op_t)
{
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    if (x->rank > 2) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "t() expects a tensor with <= 2 dimensions, but self is %uD", (unsigned)x->rank);
    }
    if (x->rank == 2) {
        swap_dims(&view, 0, 1);
    }
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_t_copy, taper_op_t)
IN_PLACE(taper_op_t_, taper_op_t)

static taper_status permute(taper_call *call, const taper_tensor *x, const int64_t *order, size_t count)
{
    taper_error *error = call->run->error;
    if (count != x->rank) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "permute: the number of dimensions in the tensor input does not match the length of the "
                          "desired ordering of "
                          "dimensions, input.dim() = %u is not equal to len(dims) = %zu",
                          (unsigned)x->rank, count);
    }
    taper_view view = {.rank = count, .offset = x->offset};
    bool seen[TAPER_MAX_RANK] = {false};
    for (size_t i = 0; i < count; i++) {
        size_t d;
        TAPER_TRY(taper_wrap_dim_or_fail(order[i], count, &d, error));
        if (seen[d]) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "permute: duplicate dims are not allowed");
        }
        seen[d] = true;
        view.sizes[i] = x->sizes[d];
        view.strides[i] = x->strides[d];
    }
    return taper_view_ret(call, 0, x, &view);
}

TAPER_KERNEL(taper_op_permute)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t order[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, order, &count));
    return permute(call, x, order, count);
}
COPIED(taper_op_permute_copy, taper_op_permute)

TAPER_KERNEL(taper_op_movedim)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t from[TAPER_MAX_RANK], to[TAPER_MAX_RANK], order[TAPER_MAX_RANK];
    size_t count, to_count;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, from, &count));
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, to, &to_count));
    if (count != to_count) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "movedim: Invalid source or destination dims: source (%s dims) should contain the same number of dims as "
            "destination (%s dims)",
            taper_sizes_print(count, from).text, taper_sizes_print(to_count, to).text);
    }
    bool from_seen[TAPER_MAX_RANK] = {false}, to_seen[TAPER_MAX_RANK] = {false};
    for (size_t i = 0; i < count; i++) {
        size_t f, t;
        TAPER_TRY(taper_wrap_dim_or_fail(from[i], x->rank, &f, error));
        TAPER_TRY(taper_wrap_dim_or_fail(to[i], x->rank, &t, error));
        if (from_seen[f] || to_seen[t]) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "movedim: repeated dim in `%s` (%s)",
                              from_seen[f] ? "source" : "destination",
                              taper_sizes_print(count, from_seen[f] ? from : to).text);
        }
        from_seen[f] = to_seen[t] = true;
        order[t] = (int64_t)f;
    }
    size_t next = 0;
    for (size_t d = 0; d < x->rank; d++) {
        if (!to_seen[d]) {
            while (from_seen[next]) {
                next++;
            }
            order[d] = (int64_t)next++;
        }
    }
    return permute(call, x, order, x->rank);
}

TAPER_KERNEL(taper_op_numpy_T)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t order[TAPER_MAX_RANK];
    for (size_t d = 0; d < x->rank; d++) {
        order[d] = (int64_t)(x->rank - 1u - d);
    }
    return permute(call, x, order, x->rank);
}

TAPER_KERNEL(taper_op_mT)
{
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    if (x->rank == 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.");
    }
    if (x->rank >= 2) {
        swap_dims(&view, x->rank - 2u, x->rank - 1u);
    }
    return taper_view_ret(call, 0, x, &view);
}

static void negate_imaginary(taper_tensor *x)
{
    const size_t item = taper_tensor_item(x), half = item / 2;
    char *p = taper_tensor_mutable(x);
    const int64_t count = taper_tensor_numel(x); // a clone is dense
    for (int64_t i = 0; i < count; i++, p += item) {
        p[item - 1] = (char)(p[item - 1] ^ (half > 0 ? 0x80 : 0)); // little-endian, so the sign bit is in the last byte
    }
}

// Returns the tensor with its last two dimensions swapped, conjugated if it is complex. There is no lazy conjugation: a
// complex tensor is conjugated in a copy with the same strides.
TAPER_KERNEL(taper_op_adjoint)
{
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    if (x->rank == 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
    }
    if (x->rank >= 2) {
        swap_dims(&view, x->rank - 2u, x->rank - 1u);
    }
    TAPER_TRY(taper_view_ret(call, 0, x, &view));
    if (taper_dtype_is_complex((taper_dtype)x->dtype)) {
        taper_tensor *clone;
        TAPER_TRY(taper_view_clone(call->run, call->rets[0].as.tensor, TAPER_FORMAT_PRESERVE, &clone));
        negate_imaginary(clone);
        taper_ret(call, 0, TAPER_VAL(clone));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_matrix_H)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    if (x->rank != 2 && x->rank != 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "tensor.H is only supported on matrices (2-D tensors). Got %u-D tensor.", (unsigned)x->rank);
    }
    return taper_op_adjoint(call);
}

// ---- views of parts of a tensor: select, slice, diagonal, unfold and similar operators

TAPER_KERNEL(taper_op_select)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    if (x->rank == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "select() cannot be applied to a 0-dim tensor.");
    }
    size_t dim;
    int64_t index;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_int(call, 2, &index));
    const int64_t size = x->sizes[dim];
    if (index < -size || index >= size) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "select(): index %lld out of range for tensor of size %s at dimension %zu", (long long)index,
                          taper_sizes_print(x->rank, x->sizes).text, dim);
    }
    index += index < 0 ? size : 0;
    view.offset = taper_wrap_add(view.offset, taper_wrap_mul(index, view.strides[dim]));
    taper_view_remove(&view, dim);
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_select_copy, taper_op_select)

static void slice_dim(taper_view *view, size_t dim, int64_t start, int64_t end, int64_t step)
{
    const int64_t length = end - start;
    view->offset = taper_wrap_add(view->offset, taper_wrap_mul(start, view->strides[dim]));
    view->sizes[dim] = length / step + (length % step != 0);
    view->strides[dim] = taper_wrap_mul(view->strides[dim], step);
}

TAPER_KERNEL(taper_op_slice)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    if (x->rank == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "slice() cannot be applied to a 0-dim tensor.");
    }
    size_t dim;
    int64_t start, end, step;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_int_or(call, 2, 0, &start));
    TAPER_TRY(taper_arg_int_or(call, 3, INT64_MAX, &end));
    TAPER_TRY(taper_arg_int(call, 4, &step));
    if (step <= 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "slice step must be positive");
    }
    const int64_t size = x->sizes[dim];
    start = taper_min_i64(taper_max_i64(start < 0 ? start + size : start, 0), size);
    end = taper_min_i64(taper_max_i64(end < 0 ? end + size : end, start), size);
    slice_dim(&view, dim, start, end, step);
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_slice_copy, taper_op_slice)

TAPER_KERNEL(taper_op_narrow)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *start_tensor;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    if (x->rank == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "narrow() cannot be applied to a 0-dim tensor.");
    }
    size_t dim;
    int64_t start, length;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    if (call->args[2].tag == TAPER_TENSOR) {
        TAPER_TRY(taper_arg_tensor(call, 2, &start_tensor));
        if (start_tensor->rank != 0 || !taper_dtype_is_integral((taper_dtype)start_tensor->dtype)) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "start must be an 0-dim integral Tensor.");
        }
        start = taper_load_int((taper_dtype)start_tensor->dtype, taper_tensor_data(start_tensor), 0);
    } else {
        TAPER_TRY(taper_arg_int(call, 2, &start));
    }
    TAPER_TRY(taper_arg_int(call, 3, &length));
    const int64_t size = x->sizes[dim];
    if (length < 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "narrow(): length must be non-negative.");
    }
    if (start < -size || start > size) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                          (long long)-size, (long long)(size - 1), (long long)start);
    }
    start += start < 0 ? size : 0;
    if (length > size - start) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                          (long long)start, (long long)length, (long long)size);
    }
    slice_dim(&view, dim, start, start + length, 1);
    return taper_view_ret(call, 0, x, &view);
}

// Computes narrow_copy. Unlike the other operators x_copy, it returns a contiguous tensor.
TAPER_KERNEL(taper_op_narrow_copy)
{
    taper_val part = taper_val_none();
    taper_tensor *clone = NULL;
    taper_call inner = *call;
    inner.rets = &part;
    inner.ret_count = 1;
    taper_status status = taper_op_narrow(&inner);
    if (status == TAPER_OK) {
        status = taper_view_clone(call->run, part.as.tensor, TAPER_FORMAT_CONTIGUOUS, &clone);
    }
    taper_val_release(part);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, clone) : status;
}

static taper_status ret_diagonal(taper_call *call, int64_t offset, int64_t dim1, int64_t dim2)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    size_t a, b;
    TAPER_TRY(taper_wrap_dim_or_fail(dim1, x->rank, &a, error));
    TAPER_TRY(taper_wrap_dim_or_fail(dim2, x->rank, &b, error));
    if (a == b) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "diagonal dimensions cannot be identical %lld, %lld",
                          (long long)dim1, (long long)dim2);
    }
    const int64_t rows = x->sizes[a], columns = x->sizes[b];
    int64_t size = 0;
    if (offset >= 0) {
        size = offset >= columns ? 0 : taper_min_i64(rows, columns - offset);
    } else {
        size = offset <= -rows ? 0 : taper_min_i64(rows + offset, columns);
    }
    if (size > 0) {
        const int64_t from =
            offset >= 0 ? taper_wrap_mul(offset, x->strides[b]) : taper_wrap_mul(-offset, x->strides[a]);
        view.offset = taper_wrap_add(view.offset, from);
    }
    const int64_t stride = taper_wrap_add(x->strides[a], x->strides[b]);
    taper_view_remove(&view, a > b ? a : b);
    taper_view_remove(&view, a > b ? b : a);
    TAPER_TRY(taper_view_insert(&view, view.rank, size, stride, error));
    return taper_view_ret(call, 0, x, &view);
}

TAPER_KERNEL(taper_op_diagonal)
{
    int64_t numbers[3];
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_arg_int(call, 1 + i, &numbers[i]));
    }
    return ret_diagonal(call, numbers[0], numbers[1], numbers[2]);
}
COPIED(taper_op_diagonal_copy, taper_op_diagonal)

TAPER_KERNEL(taper_op_unfold)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(arg_view(call, &x, &view));
    size_t dim;
    int64_t size, step;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_int(call, 2, &size));
    TAPER_TRY(taper_arg_int(call, 3, &step));
    const int64_t limit = x->rank == 0 ? 1 : x->sizes[dim];
    const int64_t stride = x->rank == 0 ? 1 : x->strides[dim];
    if (size < 0 || size > limit) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "maximum size for tensor at dimension %zu is %lld but size is %lld", dim, (long long)limit,
                          (long long)size);
    }
    if (step <= 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "step is %lld but must be > 0", (long long)step);
    }
    if (x->rank > 0) {
        view.sizes[dim] = (limit - size) / step + 1;
        view.strides[dim] = taper_wrap_mul(step, stride);
    }
    TAPER_TRY(taper_view_insert(&view, view.rank, size, stride, error));
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_unfold_copy, taper_op_unfold)

TAPER_KERNEL(taper_op_as_strided)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_view view;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_run_settle(call->run, x));
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, view.sizes, &view.rank));
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, view.strides, &count));
    TAPER_TRY(taper_arg_int_or(call, 3, x->offset, &view.offset));
    if (count != view.rank) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "mismatch in length of strides and shape");
    }
    for (size_t d = 0; d < count; d++) {
        if (view.strides[d] < 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "as_strided: Negative strides are not supported at the moment, got strides: %s",
                              taper_sizes_print(count, view.strides).text);
        }
    }
    if (view.offset < 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "storage_offset: %lld is negative", (long long)view.offset);
    }
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_as_strided_copy, taper_op_as_strided)
IN_PLACE(taper_op_as_strided_, taper_op_as_strided)

// ---- the operators x_scatter: a copy of self in which the view made by x is set to src

static taper_status view_scatter(taper_call *call, taper_kernel kernel)
{
    // The view's arguments are self and the arguments after src.
    taper_error *error = call->run->error;
    taper_tensor *x, *source, *clone;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &source));
    TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_PRESERVE, &clone));
    taper_val args[8] = {TAPER_VAL(clone)};
    size_t count = 1;
    for (size_t i = 2; i < call->arg_count && count < 8; i++) {
        args[count++] = call->args[i];
    }
    taper_val result = taper_val_none();
    taper_call inner = *call;
    inner.args = args;
    inner.arg_count = count;
    inner.rets = &result;
    inner.ret_count = 1;
    taper_status status = kernel(&inner);
    if (status == TAPER_OK) {
        taper_tensor *part = result.as.tensor;
        if (part->rank != source->rank || memcmp(part->sizes, source->sizes, part->rank * sizeof part->sizes[0]) != 0) {
            status = taper_fail(error, TAPER_ERROR_ARGUMENT,
                                "expected src to have a size equal to the slice of self. src size = %s, "
                                "slice size = %s",
                                taper_sizes_print(source->rank, source->sizes).text,
                                taper_sizes_print(part->rank, part->sizes).text);
        } else {
            status = taper_run_copy(call->run, part, source);
        }
    }
    taper_val_release(result);
    if (status != TAPER_OK) {
        taper_tensor_drop(clone);
        return status;
    }
    return taper_ret_tensor(call, 0, clone);
}

#define SCATTERED(name, base)                                                                                          \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return view_scatter(call, base);                                                                               \
    }
SCATTERED(taper_op_select_scatter, taper_op_select)
SCATTERED(taper_op_slice_scatter, taper_op_slice)
SCATTERED(taper_op_diagonal_scatter, taper_op_diagonal)
SCATTERED(taper_op_as_strided_scatter, taper_op_as_strided)
