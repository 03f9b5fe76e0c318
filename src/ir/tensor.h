// SPDX-License-Identifier: BSD-2-Clause
// Creates tensors and changes their storage and layout. Code that only reads tensors needs only ir/tensor_def.h.
#ifndef TAPER_IR_TENSOR_H
#define TAPER_IR_TENSOR_H

#include "ir/tensor_def.h"

// Fails if a tensor of these sizes exceeds the limits. For code that computes with the sizes before it creates the
// tensor.
TAPER_MUST_USE taper_status taper_tensor_check_sizes(taper_dtype dtype, size_t rank, const int64_t *sizes,
                                                     taper_error *error);
// Creates an uninitialized tensor. strides may be NULL for a contiguous one. Fails if a size is negative, or if the
// rank or the product exceeds the limits.
TAPER_MUST_USE taper_status taper_tensor_new(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                             const int64_t *strides, taper_tensor **tensor, taper_error *error);
TAPER_MUST_USE taper_status taper_tensor_zeros(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                               taper_tensor **tensor, taper_error *error);
// Creates a view of storage, which is retained. Fails unless every element is within the storage.
TAPER_MUST_USE taper_status taper_tensor_view(taper_heap *heap, taper_storage *storage, taper_dtype dtype,
                                              int64_t offset, size_t rank, const int64_t *sizes, const int64_t *strides,
                                              taper_tensor **tensor, taper_error *error);
// Creates a view of like's storage with like's dtype and quantizer. like must not be hidden NHWC.
TAPER_MUST_USE taper_status taper_tensor_alias(taper_heap *heap, const taper_tensor *like, int64_t offset, size_t rank,
                                               const int64_t *sizes, const int64_t *strides, taper_tensor **tensor,
                                               taper_error *error);
// Returns a twin of the tensor for use in one function. It has no reference count, its geometry may be changed, and it
// borrows the storage. The struct cannot be copied as a whole, because other threads change its reference count.
taper_tensor taper_tensor_local(const taper_tensor *tensor);
// Says that the sizes, strides, dtype or storage of the tensor were changed in place. Data that was prepared for it, as
// for a constant of known shape, is then not used again.
void taper_tensor_was_reshaped(taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_tensor_set_quantizer(taper_tensor *tensor, const taper_quantizer *quantizer,
                                                       taper_error *error);

// Creates a tensor over a device's memory, with a storage of its own. Takes over the memory, also on failure. strides:
// the strides that the tensor shows, and has when it comes home; NULL means contiguous. The caller may mark it as
// hidden NHWC if they are channels-last.
TAPER_MUST_USE taper_status taper_tensor_of_memory(taper_heap *heap, taper_memory *memory, taper_dtype dtype,
                                                   size_t rank, const int64_t *sizes, const int64_t *strides,
                                                   taper_tensor **tensor, taper_error *error);
// Creates a tensor over a device's memory with the dtype, sizes, strides, layout and quantizer of `like`.
TAPER_MUST_USE taper_status taper_tensor_like_of_memory(taper_heap *heap, taper_memory *memory,
                                                        const taper_tensor *like, taper_tensor **tensor,
                                                        taper_error *error);
// Copies the elements of a tensor that is away to the host, in place and in the same layout. taper_tensor_fetch does
// nothing for a tensor that is on the host.
TAPER_MUST_USE taper_status taper_tensor_come_home(taper_tensor *tensor, taper_error *error); // the tensor must be away
inline TAPER_MUST_USE taper_status taper_tensor_fetch(taper_tensor *tensor, taper_error *error)
{
    return taper_tensor_is_away(tensor) ? taper_tensor_come_home(tensor, error) : TAPER_OK;
}
// Gives the tensor the layout that it has in PyTorch, in place: an absent tensor is fetched, and a hidden NHWC tensor
// becomes contiguous. Does nothing for any other tensor.
TAPER_MUST_USE taper_status taper_tensor_settle(taper_tensor *tensor, taper_error *error);
// Gives the tensor the bytes and strides of `other`, a new tensor of the same sizes. Every holder of the tensor sees
// them.
void taper_tensor_trade_storages(taper_tensor *tensor, taper_tensor *other);
// Returns a contiguous tensor with the same elements. It is the tensor itself, retained, if that is contiguous. A
// hidden NHWC tensor is settled.
TAPER_MUST_USE taper_status taper_tensor_contiguous(taper_heap *heap, taper_tensor *tensor, taper_tensor **result,
                                                    taper_error *error);
// Copies elements and converts the dtype. The sizes must be equal, or `from` must broadcast to `to`. Strides may be
// any, also of hidden NHWC. The tensors must not overlap.
TAPER_MUST_USE taper_status taper_tensor_copy(taper_tensor *to, const taper_tensor *from, taper_error *error);

#endif
