// SPDX-License-Identifier: BSD-2-Clause
// Functions that pooling, resizing, padding and normalization share. They see a tensor of one to three spatial
// dimensions, with or without a batch dimension, as N × C × D × H × W. They make the results of such operators, and
// read and write elements of any dtype as doubles.
#ifndef TAPER_OPS_VOLUME_H
#define TAPER_OPS_VOLUME_H

#include "ops/call/call.h"

// A tensor seen as N × C × D × H × W. Strides and offsets are in elements of memory, so a hidden NHWC tensor has
// stride_c == 1.
typedef struct taper_volume {
    int64_t n, c;
    int64_t size[3]; // depth, height, width; 1 for a dimension that the tensor lacks
    int64_t stride_n, stride_c;
    int64_t stride[3];
} taper_volume;

// The parameter of operators that differ only in the number of spatial dimensions.
typedef struct taper_spatial {
    uint8_t dims;
} taper_spatial;
extern const taper_spatial taper_spatial_1d, taper_spatial_2d, taper_spatial_3d;

static inline size_t taper_spatial_of(const taper_call *call)
{
    return ((const taper_spatial *)call->param)->dims;
}

// Views the tensor as a volume. Its rank must be spatial + 1 (without a batch dimension, so that n is 1) or spatial +
// 2.
taper_volume taper_volume_of(const taper_tensor *tensor, size_t spatial);
// Fails unless the rank fits and every dimension except the batch is positive.
TAPER_MUST_USE taper_status taper_volume_check(const taper_call *call, const taper_tensor *tensor, size_t spatial,
                                               bool unbatched);

inline bool taper_volume_channels_inner(const taper_volume *volume)
{
    return volume->stride_c == 1 && volume->c > 1;
}

// Makes result `at` with the sizes of x, except that the last `spatial` sizes are from `size`. The result has x's
// quantizer. If `follows` is set, PyTorch's result has x's suggested memory format; otherwise PyTorch's result is
// contiguous. If x is channels-last, hidden or not, the result is channels-last too, and it is hidden if PyTorch's
// result is not channels-last. Refuses an out argument that has another dtype or shares x's memory.
TAPER_MUST_USE taper_status taper_volume_result(taper_call *call, size_t at, const taper_tensor *x, taper_dtype dtype,
                                                size_t spatial, const int64_t size[3], bool follows,
                                                taper_tensor **out);
// Fails if an out argument does not have the dtype of the result, or shares memory with an input.
TAPER_MUST_USE taper_status taper_out_check(const taper_call *call, size_t at, const taper_tensor *x,
                                            taper_dtype dtype);

// These functions load and store an element as a double. A quantized element is loaded and stored as its integer.
// Storing rounds to nearest even and saturates.
double taper_number_load(taper_dtype dtype, const void *data, int64_t index);
void taper_number_store(taper_dtype dtype, void *data, int64_t index, double value);

// Computes the strides of PyTorch's empty_like of a tensor: the tensor's own strides if it is dense, otherwise dense
// strides in the same order.
void taper_strides_like(const taper_tensor *tensor, const int64_t *sizes, int64_t *strides);

#endif
