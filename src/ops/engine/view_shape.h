// SPDX-License-Identifier: BSD-2-Clause
// Functions that view operators share: a shape under construction, and the functions that make a result from it.
#ifndef TAPER_OPS_VIEW_SHAPE_H
#define TAPER_OPS_VIEW_SHAPE_H

#include "ops/engine/view_move.h"

// The sizes and strides of a view under construction. offset is in elements of the storage.
typedef struct taper_view {
    size_t rank;
    int64_t offset;
    int64_t sizes[TAPER_MAX_RANK];
    int64_t strides[TAPER_MAX_RANK];
} taper_view;

// Fails with the message for tensors of more than TAPER_MAX_RANK dimensions.
TAPER_COLD TAPER_MUST_USE taper_status taper_rank_refused(taper_error *error);

void taper_view_of(const taper_tensor *tensor, taper_view *view);
TAPER_MUST_USE taper_status taper_view_make(taper_run *run, const taper_tensor *like, const taper_view *view,
                                            taper_tensor **tensor);
// Sets result `at` to a view of `like`.
TAPER_MUST_USE taper_status taper_view_ret(taper_call *call, size_t at, const taper_tensor *like,
                                           const taper_view *view);
// Sets result `at` to the tensor itself.
void taper_view_ret_same(taper_call *call, size_t at, taper_tensor *tensor);

// Returns argument `at`, converted to contiguous if it is hidden NHWC. Operators that accept hidden tensors only in
// some cases call this function.
TAPER_MUST_USE taper_status taper_arg_plain(const taper_call *call, size_t at, taper_tensor **tensor);
// Makes a hidden tensor contiguous without a copy if its bytes have the same order in both formats (H = W = 1, or C =
// 1). Returns true if the tensor is not hidden afterwards.
bool taper_tensor_unhide_if_trivial(taper_tensor *tensor);

// Copies sizes to shape and replaces -1 by the inferred size. Fails as PyTorch does if the shape does not have numel
// elements.
TAPER_MUST_USE taper_status taper_shape_infer(int64_t numel, size_t rank, const int64_t *sizes, int64_t *shape,
                                              taper_error *error);
// Computes the strides of a view of the tensor with this shape, which has the same number of elements. Returns false if
// no strides describe such a view, so a reshape must copy.
bool taper_shape_strides(const taper_tensor *tensor, size_t rank, const int64_t *shape, int64_t *strides);
// Computes reshape: a view if possible, otherwise a view of a contiguous copy. The tensor must not be hidden NHWC.
TAPER_MUST_USE taper_status taper_reshape(taper_run *run, const taper_tensor *tensor, size_t rank, const int64_t *shape,
                                          taper_tensor **result);
TAPER_MUST_USE taper_status taper_expand(taper_run *run, const taper_tensor *tensor, size_t rank, const int64_t *sizes,
                                         taper_tensor **result);
// Broadcasts sizes with other, in place. Returns false if they do not match.
bool taper_broadcast_sizes(size_t *rank, int64_t *sizes, size_t other_rank, const int64_t *other);
// Makes a new tensor with the elements of x moved by shift along dim. Elements moved past the end continue at the
// start.
TAPER_MUST_USE taper_status taper_roll(taper_run *run, const taper_tensor *x, size_t dim, int64_t shift,
                                       taper_tensor **result);
// taper_view_remove removes a dimension. taper_view_insert inserts one before dimension dim; it fails if the view has
// TAPER_MAX_RANK dimensions already.
void taper_view_remove(taper_view *view, size_t dim);
TAPER_MUST_USE taper_status taper_view_insert(taper_view *view, size_t dim, int64_t size, int64_t stride,
                                              taper_error *error);

// Adds dimensions of size 1 up to `rank`, at the positions where numpy's atleast_1d, atleast_2d and atleast_3d add
// them.
TAPER_MUST_USE taper_status taper_view_raise(taper_view *view, size_t rank, taper_error *error);

// Sets the shape of a tensor in place, for squeeze_, as_strided_ and similar operators.
TAPER_MUST_USE taper_status taper_view_assign(taper_run *run, taper_tensor *tensor, const taper_view *view);

// These functions run a view operator's kernel for two other variants of the operator x: x_copy (for single results,
// lists, and .out) and the in-place x_.
TAPER_MUST_USE taper_status taper_view_copied(taper_call *call, taper_kernel kernel);
TAPER_MUST_USE taper_status taper_view_in_place(taper_call *call, taper_kernel kernel);

// Sets result `at` to a new list of tensors, which is empty and has room for `capacity` tensors.
TAPER_MUST_USE taper_status taper_ret_tensor_list(taper_call *call, size_t at, size_t capacity, taper_list **list);
// Appends the tensor, and takes over the caller's reference.
TAPER_MUST_USE taper_status taper_tensor_list_add(taper_call *call, taper_list *list, taper_tensor *tensor);

#endif
