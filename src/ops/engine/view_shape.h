// SPDX-License-Identifier: BSD-2-Clause
// What the view operators share: a shape being worked out, and how it becomes a result.
#ifndef TAPER_OPS_VIEW_SHAPE_H
#define TAPER_OPS_VIEW_SHAPE_H

#include "ops/engine/view_move.h"

// Sizes and strides in the making; offset in elements of the storage.
typedef struct taper_view {
    size_t rank;
    int64_t offset;
    int64_t sizes[TAPER_MAX_RANK];
    int64_t strides[TAPER_MAX_RANK];
} taper_view;

// What is said of a tensor beyond TAPER_MAX_RANK.
TAPER_COLD TAPER_MUST_USE taper_status taper_rank_refused(taper_error *error);

void taper_view_of(const taper_tensor *tensor, taper_view *view);
TAPER_MUST_USE taper_status taper_view_make(taper_run *run, const taper_tensor *like, const taper_view *view,
                                            taper_tensor **tensor);
// Result `at` is a view of like.
TAPER_MUST_USE taper_status taper_view_ret(taper_call *call, size_t at, const taper_tensor *like,
                                           const taper_view *view);
// Result `at` is the tensor itself.
void taper_view_ret_same(taper_call *call, size_t at, taper_tensor *tensor);

// Argument `at`, revealed when it is hidden NHWC: for operators that take hidden tensors in some cases only.
TAPER_MUST_USE taper_status taper_arg_plain(const taper_call *call, size_t at, taper_tensor **tensor);
// A hidden tensor whose bytes are in the same order either way (H = W = 1 or C = 1) becomes contiguous without a copy.
// True when the tensor is not hidden (any more).
bool taper_tensor_unhide_if_trivial(taper_tensor *tensor);

// Copies sizes into shape, with -1 worked out, or fails as PyTorch does when they do not hold numel elements.
TAPER_MUST_USE taper_status taper_shape_infer(int64_t numel, size_t rank, const int64_t *sizes, int64_t *shape,
                                              taper_error *error);
// The strides that show tensor with this shape (as many elements) without a copy; false when there are none.
bool taper_shape_strides(const taper_tensor *tensor, size_t rank, const int64_t *shape, int64_t *strides);
// reshape: a view where possible, else of a contiguous copy. The tensor must not be hidden.
TAPER_MUST_USE taper_status taper_reshape(taper_run *run, const taper_tensor *tensor, size_t rank, const int64_t *shape,
                                          taper_tensor **result);
TAPER_MUST_USE taper_status taper_expand(taper_run *run, const taper_tensor *tensor, size_t rank, const int64_t *sizes,
                                         taper_tensor **result);
// Sizes that a and b broadcast to; false when they do not.
bool taper_broadcast_sizes(size_t *rank, int64_t *sizes, size_t other_rank, const int64_t *other);
// x with the elements along dim moved on by shift, those at the end to the front; a new tensor.
TAPER_MUST_USE taper_status taper_roll(taper_run *run, const taper_tensor *x, size_t dim, int64_t shift,
                                       taper_tensor **result);
// Removes or inserts a dimension.
void taper_view_remove(taper_view *view, size_t dim);
TAPER_MUST_USE taper_status taper_view_insert(taper_view *view, size_t dim, int64_t size, int64_t stride,
                                              taper_error *error);

// The dimensions of size 1 that numpy's atleast_1d, 2d and 3d add.
TAPER_MUST_USE taper_status taper_view_raise(taper_view *view, size_t rank, taper_error *error);

// Sets the shape of a tensor in place (squeeze_, as_strided_, …).
TAPER_MUST_USE taper_status taper_view_assign(taper_run *run, taper_tensor *tensor, const taper_view *view);

// Operators made from a view operator's kernel: x_copy (also of lists, also .out) and x_.
TAPER_MUST_USE taper_status taper_view_copied(taper_call *call, taper_kernel kernel);
TAPER_MUST_USE taper_status taper_view_in_place(taper_call *call, taper_kernel kernel);

// A list of tensors for result `at`.
TAPER_MUST_USE taper_status taper_ret_tensor_list(taper_call *call, size_t at, size_t capacity, taper_list **list);
// Takes over the reference.
TAPER_MUST_USE taper_status taper_tensor_list_add(taper_call *call, taper_list *list, taper_tensor *tensor);

#endif
