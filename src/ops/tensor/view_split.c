// SPDX-License-Identifier: BSD-2-Clause
// Views of slices: split, chunk, tensor_split, unbind and similar operators. Each returns a list of views along one
// dimension.
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"

#define COPIED(name, base)                                                                                             \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return taper_view_copied(call, base);                                                                          \
    }

static taper_status arg_pieces(taper_call *call, const char *name, size_t dim_at, taper_tensor **x, size_t *dim)
{
    TAPER_TRY(taper_arg_plain(call, 0, x));
    if ((*x)->rank == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "%s expects at least a 1-dimensional tensor", name);
    }
    return taper_arg_dim(call, dim_at, (*x)->rank, dim);
}

// Appends the view [start, end) along dim to the list.
static taper_status add_piece(taper_call *call, taper_list *list, const taper_tensor *x, size_t dim, int64_t start,
                              int64_t end)
{
    taper_view view;
    taper_tensor *piece;
    taper_view_of(x, &view);
    view.sizes[dim] = end - start;
    view.offset = taper_wrap_add(view.offset, taper_wrap_mul(start, view.strides[dim]));
    TAPER_TRY(taper_view_make(call->run, x, &view, &piece));
    return taper_tensor_list_add(call, list, piece);
}

static taper_status check_count(taper_call *call, int64_t count)
{
    if (count < 0 || count > TAPER_LIMIT_CONTAINER_ITEMS) {
        return taper_fail(call->run->error, TAPER_ERROR_RESOURCE, "%lld pieces are too many", (long long)count);
    }
    return TAPER_OK;
}

static taper_status split_evenly(taper_call *call, const taper_tensor *x, size_t dim, int64_t length)
{
    const int64_t size = x->sizes[dim];
    const int64_t count = length == 0 ? 1 : taper_max_i64(size / length + (size % length != 0), 1);
    TAPER_TRY(check_count(call, count));
    taper_list *list;
    TAPER_TRY(taper_ret_tensor_list(call, 0, (size_t)count, &list));
    for (int64_t i = 0; i < count; i++) {
        const int64_t start = i * length;
        TAPER_TRY(add_piece(call, list, x, dim, start, size - start < length ? size : start + length));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_split)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    size_t dim;
    int64_t length;
    TAPER_TRY(arg_pieces(call, "split", 2, &x, &dim));
    TAPER_TRY(taper_arg_int(call, 1, &length));
    if (length < 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "split expects split_size be non-negative, but got split_size=%lld", (long long)length);
    }
    if (length == 0 && x->sizes[dim] != 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "split_size can only be 0 if dimension size is 0, but got dimension size of %lld",
                          (long long)x->sizes[dim]);
    }
    return split_evenly(call, x, dim, length);
}
COPIED(taper_op_split_copy, taper_op_split)

TAPER_KERNEL(taper_op_chunk)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    size_t dim;
    int64_t chunks;
    TAPER_TRY(arg_pieces(call, "chunk", 2, &x, &dim));
    TAPER_TRY(taper_arg_int(call, 1, &chunks));
    if (chunks <= 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "chunk expects `chunks` to be greater than 0, got: %lld",
                          (long long)chunks);
    }
    const int64_t size = x->sizes[dim];
    const int64_t length = size / chunks + (size % chunks != 0);
    if (length > 0) {
        return split_evenly(call, x, dim, length);
    }
    // A dimension of size 0 is also divided into the requested number of pieces.
    TAPER_TRY(check_count(call, chunks));
    taper_list *list;
    TAPER_TRY(taper_ret_tensor_list(call, 0, 0, &list));
    for (int64_t i = 0; i < chunks; i++) {
        TAPER_TRY(add_piece(call, list, x, dim, 0, 0));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_split_with_sizes)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_list *lengths, *list;
    size_t dim;
    TAPER_TRY(arg_pieces(call, "split", 2, &x, &dim));
    TAPER_TRY(taper_arg_list(call, 1, &lengths));
    int64_t sum = 0;
    for (size_t i = 0; i < lengths->count; i++) {
        if (lengths->items[i].tag != TAPER_INT) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "split_sizes: expected a list of ints");
        }
        const int64_t length = lengths->items[i].as.i;
        if (length < 0) {
            return taper_fail(
                error, TAPER_ERROR_ARGUMENT,
                "split_with_sizes expects split_sizes have only non-negative entries, but got a negative one: %lld",
                (long long)length);
        }
        if (length > x->sizes[dim] - sum) {
            sum = -1;
            break;
        }
        sum += length;
    }
    if (sum != x->sizes[dim]) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size at dimension %zu)",
            (long long)x->sizes[dim], dim);
    }
    TAPER_TRY(taper_ret_tensor_list(call, 0, lengths->count, &list));
    int64_t start = 0;
    for (size_t i = 0; i < lengths->count; i++) {
        const int64_t end = start + lengths->items[i].as.i;
        TAPER_TRY(add_piece(call, list, x, dim, start, end));
        start = end;
    }
    return TAPER_OK;
}
COPIED(taper_op_split_with_sizes_copy, taper_op_split_with_sizes)

// ---- tensor_split

static taper_status split_sections(taper_call *call, const taper_tensor *x, size_t dim, int64_t sections)
{
    if (sections <= 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "number of sections must be larger than 0, got %lld",
                          (long long)sections);
    }
    TAPER_TRY(check_count(call, sections));
    taper_list *list;
    TAPER_TRY(taper_ret_tensor_list(call, 0, 0, &list));
    const int64_t least = x->sizes[dim] / sections, larger = x->sizes[dim] % sections;
    int64_t start = 0;
    for (int64_t i = 0; i < sections; i++) {
        const int64_t end = start + least + (i < larger ? 1 : 0);
        TAPER_TRY(add_piece(call, list, x, dim, start, end));
        start = end;
    }
    return TAPER_OK;
}

// Converts a bound as in x[start:end]: a negative number counts from the end, and the result is in [0, size].
static int64_t bound(int64_t at, int64_t size)
{
    at += at < 0 ? size : 0;
    return taper_min_i64(taper_max_i64(at, 0), size);
}

static taper_status add_bounded(taper_call *call, taper_list *list, const taper_tensor *x, size_t dim, int64_t start,
                                int64_t end)
{
    start = bound(start, x->sizes[dim]);
    end = bound(end, x->sizes[dim]);
    return add_piece(call, list, x, dim, start, taper_max_i64(start, end));
}

static taper_status split_at_list(taper_call *call, const taper_tensor *x, size_t dim, size_t at)
{
    taper_list *indices, *list;
    TAPER_TRY(taper_arg_list(call, at, &indices));
    TAPER_TRY(taper_ret_tensor_list(call, 0, indices->count + 1, &list));
    int64_t start = 0;
    for (size_t i = 0; i < indices->count; i++) {
        if (indices->items[i].tag != TAPER_INT) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "indices: expected a list of ints");
        }
        const int64_t end = indices->items[i].as.i;
        TAPER_TRY(add_bounded(call, list, x, dim, start, end));
        start = end;
    }
    return add_bounded(call, list, x, dim, start, x->sizes[dim]);
}

TAPER_KERNEL(taper_op_tensor_split_sections)
{
    taper_tensor *x;
    size_t dim;
    int64_t sections;
    TAPER_TRY(arg_pieces(call, "tensor_split", 2, &x, &dim));
    TAPER_TRY(taper_arg_int(call, 1, &sections));
    return split_sections(call, x, dim, sections);
}

TAPER_KERNEL(taper_op_tensor_split_indices)
{
    taper_tensor *x;
    size_t dim;
    TAPER_TRY(arg_pieces(call, "tensor_split", 2, &x, &dim));
    return split_at_list(call, x, dim, 1);
}

TAPER_KERNEL(taper_op_tensor_split_tensor)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *where;
    taper_list *list;
    size_t dim;
    TAPER_TRY(arg_pieces(call, "tensor_split", 2, &x, &dim));
    TAPER_TRY(taper_arg_tensor(call, 1, &where));
    if (where->dtype != TAPER_I64 || where->rank > 1) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                          "one-dimensional int64 tensor");
    }
    const void *data = taper_tensor_data(where);
    if (where->rank == 0) {
        return split_sections(call, x, dim, taper_load_int(TAPER_I64, data, 0));
    }
    TAPER_TRY(taper_ret_tensor_list(call, 0, (size_t)where->sizes[0] + 1, &list));
    int64_t start = 0;
    for (int64_t i = 0; i < where->sizes[0]; i++) {
        const int64_t end = taper_load_int(TAPER_I64, data, i * where->strides[0]);
        TAPER_TRY(add_bounded(call, list, x, dim, start, end));
        start = end;
    }
    return add_bounded(call, list, x, dim, start, x->sizes[dim]);
}

// Computes hsplit, vsplit or dsplit. The tensor must have at least least_rank dimensions, so that `dim` exists. hsplit
// of a vector splits its only dimension.
static taper_status split_axis(taper_call *call, const char *name, size_t least_rank, size_t dim)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    if (x->rank < least_rank) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "torch.%s requires a tensor with at least %zu dimension%s, but got a tensor with %u dimensions!", name,
            least_rank, least_rank == 1 ? "" : "s", (unsigned)x->rank);
    }
    if (least_rank == 1 && x->rank == 1) {
        dim = 0;
    }
    if (call->args[1].tag == TAPER_LIST) {
        return split_at_list(call, x, dim, 1);
    }
    int64_t sections;
    TAPER_TRY(taper_arg_int(call, 1, &sections));
    if (sections <= 0 || x->sizes[dim] % sections != 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "torch.%s attempted to split along dimension %zu, but the size of the dimension %lld is not "
                          "divisible by the "
                          "split_size %lld!",
                          name, dim, (long long)x->sizes[dim], (long long)sections);
    }
    return split_sections(call, x, dim, sections);
}

TAPER_KERNEL(taper_op_hsplit)
{
    return split_axis(call, "hsplit", 1, 1);
}
TAPER_KERNEL(taper_op_vsplit)
{
    return split_axis(call, "vsplit", 2, 0);
}
TAPER_KERNEL(taper_op_dsplit)
{
    return split_axis(call, "dsplit", 3, 2);
}

// ---- unbind

TAPER_KERNEL(taper_op_unbind)
{
    taper_tensor *x, *part;
    taper_list *list;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    size_t dim;
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    if (x->rank == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "Dimension specified as %zu but tensor has no dimensions", dim);
    }
    TAPER_TRY(check_count(call, x->sizes[dim]));
    TAPER_TRY(taper_ret_tensor_list(call, 0, (size_t)x->sizes[dim], &list));
    taper_view view;
    taper_view_of(x, &view);
    const int64_t step = view.strides[dim];
    taper_view_remove(&view, dim);
    for (int64_t i = 0; i < x->sizes[dim]; i++) {
        TAPER_TRY(taper_view_make(call->run, x, &view, &part));
        TAPER_TRY(taper_tensor_list_add(call, list, part));
        view.offset = (int64_t)((uint64_t)view.offset + (uint64_t)step);
    }
    return TAPER_OK;
}
COPIED(taper_op_unbind_copy, taper_op_unbind)
