// SPDX-License-Identifier: BSD-2-Clause
// Creates tensors, and changes their storage and layout. Code that only reads tensors needs only ir/tensor_def.h.
#ifndef TAPER_IR_TENSOR_H
#define TAPER_IR_TENSOR_H

#include "ir/tensor_def.h"

// Fails if a tensor of these sizes exceeds the limits. Use it in code that computes with the sizes before it creates
// the tensor.
TAPER_MUST_USE taper_status taper_tensor_check_sizes(taper_dtype dtype, size_t rank, const int64_t *sizes,
                                                     taper_error *error);
// Creates an uninitialized tensor. If `strides` is NULL, the tensor is contiguous. Fails if a size is negative, or if
// the rank or the number of elements exceeds the limits.
TAPER_MUST_USE taper_status taper_tensor_new(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                             const int64_t *strides, taper_tensor **tensor, taper_error *error);
TAPER_MUST_USE taper_status taper_tensor_zeros(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                               taper_tensor **tensor, taper_error *error);
// Creates a view of `storage`, and retains `storage`. Fails unless every element is within the storage.
TAPER_MUST_USE taper_status taper_tensor_view(taper_heap *heap, taper_storage *storage, taper_dtype dtype,
                                              int64_t offset, size_t rank, const int64_t *sizes, const int64_t *strides,
                                              taper_tensor **tensor, taper_error *error);
// Creates a view of the storage of `like`, with the dtype and quantizer of `like`. like->hidden_nhwc must be false.
TAPER_MUST_USE taper_status taper_tensor_alias(taper_heap *heap, const taper_tensor *like, int64_t offset, size_t rank,
                                               const int64_t *sizes, const int64_t *strides, taper_tensor **tensor,
                                               taper_error *error);
// Returns a copy of the tensor struct for use within one function. The copy has no reference count, borrows the
// storage, and its sizes and strides may be changed. A plain assignment is not possible, because other threads may
// change the reference count meanwhile.
taper_tensor taper_tensor_local(const taper_tensor *tensor);
// Records that the sizes, strides, dtype or storage of the tensor were changed in place. Data that was prepared for the
// tensor, for example because it is a constant of known shape, is then not used again.
void taper_tensor_was_reshaped(taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_tensor_set_quantizer(taper_tensor *tensor, const taper_quantizer *quantizer,
                                                       taper_error *error);

// Creates a tensor over a device's memory, with its own storage. Takes over the memory, even if it fails. strides: the
// strides that the tensor shows, and that it has after its elements are copied to the host; NULL means contiguous. If
// they are channels-last, the caller may set hidden_nhwc.
TAPER_MUST_USE taper_status taper_tensor_of_memory(taper_heap *heap, taper_memory *memory, taper_dtype dtype,
                                                   size_t rank, const int64_t *sizes, const int64_t *strides,
                                                   taper_tensor **tensor, taper_error *error);
// Creates a tensor over a device's memory with the dtype, sizes, strides, layout and quantizer of `like`.
TAPER_MUST_USE taper_status taper_tensor_like_of_memory(taper_heap *heap, taper_memory *memory,
                                                        const taper_tensor *like, taper_tensor **tensor,
                                                        taper_error *error);
// These functions copy the elements of a tensor from a device's memory to the host. The tensor keeps its layout.
// taper_tensor_come_home requires elements on a device. taper_tensor_fetch does nothing for a tensor that is on the
// host.
TAPER_MUST_USE taper_status taper_tensor_come_home(taper_tensor *tensor, taper_error *error);
inline TAPER_MUST_USE taper_status taper_tensor_fetch(taper_tensor *tensor, taper_error *error)
{
    return taper_tensor_is_away(tensor) ? taper_tensor_come_home(tensor, error) : TAPER_OK;
}
// Gives the tensor the layout that it has in PyTorch, in place: a tensor on a device is copied to the host, and a
// tensor with hidden_nhwc becomes contiguous. Does nothing for any other tensor.
TAPER_MUST_USE taper_status taper_tensor_settle(taper_tensor *tensor, taper_error *error);
// Gives the tensor the storage and strides of `other`, a new tensor of the same sizes, which gets the old storage. All
// code that holds the tensor sees the new elements.
void taper_tensor_trade_storages(taper_tensor *tensor, taper_tensor *other);
// Returns a contiguous tensor with the same elements. If the tensor is contiguous, *result is the tensor itself,
// retained. A tensor with hidden_nhwc becomes contiguous in place.
TAPER_MUST_USE taper_status taper_tensor_contiguous(taper_heap *heap, taper_tensor *tensor, taper_tensor **result,
                                                    taper_error *error);
// Copies elements and converts the dtype. The sizes must be equal, or `from` must broadcast to `to`. Any strides are
// allowed, also with hidden_nhwc. The tensors must not overlap.
TAPER_MUST_USE taper_status taper_tensor_copy(taper_tensor *to, const taper_tensor *from, taper_error *error);

#endif
