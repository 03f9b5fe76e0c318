// SPDX-License-Identifier: BSD-2-Clause
// Shapes of views: PyTorch's rule for reshapes that are views, broadcasting, and view results.
#include "ops/engine/view_shape.h"

#include "ir/tensor.h"

void taper_view_of(const taper_tensor *tensor, taper_view *view)
{
    view->rank = tensor->rank;
    view->offset = tensor->offset;
    for (size_t d = 0; d < view->rank; d++) {
        view->sizes[d] = tensor->sizes[d];
        view->strides[d] = tensor->strides[d];
    }
}

taper_status taper_view_make(taper_run *run, const taper_tensor *like, const taper_view *view, taper_tensor **tensor)
{
    return taper_tensor_alias(run->heap, like, view->offset, view->rank, view->sizes, view->strides, tensor,
                              run->error);
}

taper_status taper_view_ret(taper_call *call, size_t at, const taper_tensor *like, const taper_view *view)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_view_make(call->run, like, view, &tensor));
    taper_ret(call, at, TAPER_VAL(tensor));
    return TAPER_OK;
}

void taper_view_ret_same(taper_call *call, size_t at, taper_tensor *tensor)
{
    taper_obj_retain(&tensor->head);
    taper_ret(call, at, TAPER_VAL(tensor));
}

bool taper_tensor_unhide_if_trivial(taper_tensor *tensor)
{
    if (!tensor->hidden_nhwc) {
        return true;
    }
    bool one_pixel = true;
    for (unsigned d = 2; d < tensor->rank; d++) {
        one_pixel = one_pixel && tensor->sizes[d] == 1;
    }
    if (!one_pixel && tensor->sizes[1] != 1) {
        return false;
    }
    taper_strides_contiguous(tensor->rank, tensor->sizes, tensor->strides);
    tensor->hidden_nhwc = false;
    return true;
}

taper_status taper_arg_plain(const taper_call *call, size_t at, taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_tensor(call, at, tensor));
    return taper_tensor_unhide_if_trivial(*tensor) ? TAPER_OK : taper_run_settle(call->run, *tensor);
}

// ---- reshape

taper_status taper_shape_infer(int64_t numel, size_t rank, const int64_t *sizes, int64_t *shape, taper_error *error)
{
    int64_t known = 1;
    int unknown = -1;
    bool fits = true;
    for (size_t d = 0; d < rank; d++) {
        shape[d] = sizes[d];
        if (sizes[d] == -1) {
            if (unknown >= 0) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT, "only one dimension can be inferred");
            }
            unknown = (int)d;
        } else if (sizes[d] < 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "invalid shape dimension %lld", (long long)sizes[d]);
        } else {
            fits = taper_mul_i64(known, sizes[d], &known) && fits;
        }
    }
    if (fits && (known == numel || (unknown >= 0 && known > 0 && numel % known == 0))) {
        if (unknown >= 0) {
            if (known == 0) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT,
                                  "cannot reshape tensor of 0 elements into shape %s because the unspecified dimension "
                                  "size -1 can be "
                                  "any value and is ambiguous",
                                  taper_sizes_print(rank, sizes).text);
            }
            shape[unknown] = numel / known;
        }
        return TAPER_OK;
    }
    return taper_fail(error, TAPER_ERROR_ARGUMENT, "shape '%s' is invalid for input of size %lld",
                      taper_sizes_print(rank, sizes).text, (long long)numel);
}

bool taper_shape_strides(const taper_tensor *tensor, size_t rank, const int64_t *shape, int64_t *strides)
{
    if (tensor->rank == 0) {
        for (size_t d = 0; d < rank; d++) {
            strides[d] = 1;
        }
        return true;
    }
    if (taper_tensor_numel(tensor) == 0) {
        if (rank == tensor->rank && memcmp(shape, tensor->sizes, rank * sizeof *shape) == 0) {
            memcpy(strides, tensor->strides, rank * sizeof *strides);
            return true;
        }
        for (size_t d = rank; d-- > 0;) {
            strides[d] = d + 1 == rank ? 1 : taper_wrap_mul(taper_max_i64(shape[d + 1], 1), strides[d + 1]);
        }
        return true;
    }
    // Old dimensions that are contiguous with one another form a group. Each group must have as many elements as a run
    // of new dimensions, which then gets strides within the group.
    size_t to = rank;
    int64_t base = tensor->strides[tensor->rank - 1];
    int64_t run = 1, covered = 1;
    for (size_t d = tensor->rank; d-- > 0;) {
        run *= tensor->sizes[d];
        if (d > 0 && (tensor->sizes[d - 1] == 1 || tensor->strides[d - 1] == taper_wrap_mul(run, base))) {
            continue;
        }
        while (to > 0 && (covered < run || shape[to - 1] == 1)) {
            to--;
            strides[to] = taper_wrap_mul(covered, base);
            covered *= shape[to];
        }
        if (covered != run) {
            return false;
        }
        if (d > 0) {
            base = tensor->strides[d - 1];
            run = covered = 1;
        }
    }
    return to == 0;
}

taper_status taper_reshape(taper_run *run, const taper_tensor *tensor, size_t rank, const int64_t *shape,
                           taper_tensor **result)
{
    taper_view view = {.rank = rank, .offset = tensor->offset};
    TAPER_TRY(taper_shape_infer(taper_tensor_numel(tensor), rank, shape, view.sizes, run->error));
    if (taper_shape_strides(tensor, rank, view.sizes, view.strides)) {
        return taper_view_make(run, tensor, &view, result);
    }
    taper_tensor *copy;
    TAPER_TRY(taper_view_clone(run, tensor, TAPER_FORMAT_CONTIGUOUS, &copy));
    view.offset = copy->offset;
    taper_strides_contiguous(rank, view.sizes, view.strides);
    const taper_status status = taper_view_make(run, copy, &view, result);
    taper_tensor_drop(copy);
    return status;
}

// ---- broadcasting

bool taper_broadcast_sizes(size_t *rank, int64_t *sizes, size_t other_rank, const int64_t *other)
{
    if (other_rank > *rank) {
        const size_t shift = other_rank - *rank;
        for (size_t d = *rank; d-- > 0;) {
            sizes[d + shift] = sizes[d];
        }
        for (size_t d = 0; d < shift; d++) {
            sizes[d] = 1;
        }
        *rank = other_rank;
    }
    const size_t shift = *rank - other_rank;
    for (size_t d = 0; d < other_rank; d++) {
        if (sizes[d + shift] == 1) {
            sizes[d + shift] = other[d];
        } else if (other[d] != 1 && other[d] != sizes[d + shift]) {
            return false;
        }
    }
    return true;
}

taper_status taper_expand(taper_run *run, const taper_tensor *tensor, size_t rank, const int64_t *sizes,
                          taper_tensor **result)
{
    if (rank < tensor->rank) {
        return taper_fail(
            run->error, TAPER_ERROR_ARGUMENT,
            "expand: the number of sizes provided (%zu) must be greater or equal to the number of dimensions in the "
            "tensor (%u)",
            rank, (unsigned)tensor->rank);
    }
    taper_view view = {.rank = rank, .offset = tensor->offset};
    const size_t lead = rank - tensor->rank;
    for (size_t d = rank; d-- > 0;) {
        const bool own = d >= lead;
        int64_t size = own ? tensor->sizes[d - lead] : 1;
        int64_t stride = own                 ? tensor->strides[d - lead]
                         : tensor->rank == 0 ? 0
                                             : taper_wrap_mul(view.sizes[d + 1], view.strides[d + 1]);
        int64_t target = sizes[d];
        if (target == -1) {
            if (!own) {
                return taper_fail(
                    run->error, TAPER_ERROR_ARGUMENT,
                    "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension %zu", d);
            }
            target = size;
        }
        if (target < 0) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "expand: size %lld at dimension %zu is negative",
                              (long long)target, d);
        }
        if (size != target) {
            if (size != 1) {
                return taper_fail(
                    run->error, TAPER_ERROR_ARGUMENT,
                    "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton "
                    "dimension %zu.  Target sizes: %s.  Tensor sizes: %s",
                    (long long)target, (long long)size, d, taper_sizes_print(rank, sizes).text,
                    taper_sizes_print(tensor->rank, tensor->sizes).text);
            }
            size = target;
            stride = 0;
        }
        view.sizes[d] = size;
        view.strides[d] = stride;
    }
    return taper_view_make(run, tensor, &view, result);
}

// ---- dimensions

void taper_view_remove(taper_view *view, size_t dim)
{
    for (size_t d = dim; d + 1 < view->rank; d++) {
        view->sizes[d] = view->sizes[d + 1];
        view->strides[d] = view->strides[d + 1];
    }
    view->rank--;
}

taper_status taper_rank_refused(taper_error *error)
{
    return taper_fail(error, TAPER_ERROR_UNSUPPORTED,
                      "a tensor of more than %d dimensions is not supported: flatten some of them before",
                      TAPER_MAX_RANK);
}

taper_status taper_view_insert(taper_view *view, size_t dim, int64_t size, int64_t stride, taper_error *error)
{
    if (view->rank >= TAPER_MAX_RANK) {
        return taper_rank_refused(error);
    }
    for (size_t d = view->rank; d > dim; d--) {
        view->sizes[d] = view->sizes[d - 1];
        view->strides[d] = view->strides[d - 1];
    }
    view->sizes[dim] = size;
    view->strides[dim] = stride;
    view->rank++;
    return TAPER_OK;
}

taper_status taper_view_raise(taper_view *view, size_t rank, taper_error *error)
{
    if (view->rank == 0 && rank >= 1) {
        TAPER_TRY(taper_view_insert(view, 0, 1, 1, error));
    }
    if (view->rank == 1 && rank >= 2) {
        TAPER_TRY(taper_view_insert(view, 0, 1, taper_wrap_mul(view->sizes[0], view->strides[0]), error));
    }
    if (view->rank == 2 && rank >= 3) {
        TAPER_TRY(taper_view_insert(view, 2, 1, 1, error));
    }
    return TAPER_OK;
}

taper_status taper_view_assign(taper_run *run, taper_tensor *tensor, const taper_view *view)
{
    taper_tensor *checked; // no code uses this tensor: its creation checks the arguments
    TAPER_TRY(taper_view_make(run, tensor, view, &checked));
    taper_tensor_drop(checked);
    tensor->rank = (uint8_t)view->rank;
    tensor->offset = view->offset;
    memcpy(tensor->sizes, view->sizes, sizeof tensor->sizes);
    memcpy(tensor->strides, view->strides, sizeof tensor->strides);
    return TAPER_OK;
}

// ---- lists of tensors

taper_status taper_ret_tensor_list(taper_call *call, size_t at, size_t capacity, taper_list **list)
{
    *list = taper_list_new(call->run->heap, &taper_type_tensor, capacity);
    if (*list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, at, TAPER_VAL(*list));
    return TAPER_OK;
}

taper_status taper_tensor_list_add(taper_call *call, taper_list *list, taper_tensor *tensor)
{
    return taper_list_append(list, TAPER_VAL(tensor), call->run->error);
}
