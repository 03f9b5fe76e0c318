// SPDX-License-Identifier: BSD-2-Clause
// Makes tensors and changes what they stand on. Reading one needs ir/tensor_def.h alone.
#ifndef TAPER_IR_TENSOR_H
#define TAPER_IR_TENSOR_H

#include "ir/tensor_def.h"

// That a tensor of these sizes is within the limits, for who computes with them before making one.
TAPER_MUST_USE taper_status taper_tensor_check_sizes(taper_dtype dtype, size_t rank, const int64_t *sizes,
                                                     taper_error *error);
// Uninitialized. strides NULL: contiguous. Checks sizes (not negative, product within limits) and rank.
TAPER_MUST_USE taper_status taper_tensor_new(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                             const int64_t *strides, taper_tensor **tensor, taper_error *error);
TAPER_MUST_USE taper_status taper_tensor_zeros(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                               taper_tensor **tensor, taper_error *error);
// A view of storage (retained). Checks that every element lies inside it.
TAPER_MUST_USE taper_status taper_tensor_view(taper_heap *heap, taper_storage *storage, taper_dtype dtype,
                                              int64_t offset, size_t rank, const int64_t *sizes, const int64_t *strides,
                                              taper_tensor **tensor, taper_error *error);
// As taper_tensor_view over like's storage, with like's dtype and quantizer. like must not be hidden NHWC.
TAPER_MUST_USE taper_status taper_tensor_alias(taper_heap *heap, const taper_tensor *like, int64_t offset, size_t rank,
                                               const int64_t *sizes, const int64_t *strides, taper_tensor **tensor,
                                               taper_error *error);
// A twin of tensor for one function, never seen outside and never counted: its geometry may be changed, its storage is
// borrowed. (The count of references is another thread's to change: the struct is not to be copied whole.)
taper_tensor taper_tensor_local(const taper_tensor *tensor);
// Says that the tensor's sizes, strides, dtype or storage were changed in place, so that what was prepared for it, as a
// constant whose shape is known, is not used again.
void taper_tensor_was_reshaped(taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_tensor_set_quantizer(taper_tensor *tensor, const taper_quantizer *quantizer,
                                                       taper_error *error);

// Over a device's memory, which is taken over, also on failure; its storage is its own. strides, those that it shows
// and has when it comes home: NULL: contiguous. The caller may make it hidden NHWC, where these are channels-last.
TAPER_MUST_USE taper_status taper_tensor_of_memory(taper_heap *heap, taper_memory *memory, taper_dtype dtype,
                                                   size_t rank, const int64_t *sizes, const int64_t *strides,
                                                   taper_tensor **tensor, taper_error *error);
// The same, as `like` is in all else: sizes, strides, layout, quantizer.
TAPER_MUST_USE taper_status taper_tensor_like_of_memory(taper_heap *heap, taper_memory *memory,
                                                        const taper_tensor *like, taper_tensor **tensor,
                                                        taper_error *error);
// Brings it to the host, as it is there, in place. Nothing to do for what is there.
TAPER_MUST_USE taper_status taper_tensor_come_home(taper_tensor *tensor, taper_error *error); // it is away
inline TAPER_MUST_USE taper_status taper_tensor_fetch(taper_tensor *tensor, taper_error *error)
{
    return taper_tensor_is_away(tensor) ? taper_tensor_come_home(tensor, error) : TAPER_OK;
}
// Makes it PyTorch's, in place: fetched where it is away, a hidden NHWC one reordered to contiguous. Nothing to do for
// any other.
TAPER_MUST_USE taper_status taper_tensor_settle(taper_tensor *tensor, taper_error *error);
// The tensor gets the bytes and strides of a new one of its sizes: everyone who holds it sees these.
void taper_tensor_trade_storages(taper_tensor *tensor, taper_tensor *other);
// A contiguous tensor with the same elements: the tensor itself (retained) when it is one. Reveals.
TAPER_MUST_USE taper_status taper_tensor_contiguous(taper_heap *heap, taper_tensor *tensor, taper_tensor **result,
                                                    taper_error *error);
// Copies elements between tensors of the same sizes, converting dtype; strides are any (hidden ones included). from may
// broadcast to to. Overlap is not handled.
TAPER_MUST_USE taper_status taper_tensor_copy(taper_tensor *to, const taper_tensor *from, taper_error *error);

#endif
