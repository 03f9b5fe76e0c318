// SPDX-License-Identifier: BSD-2-Clause
// What pooling, resizing, padding and normalisation share: a tensor of one to three spatial dimensions, with or without
// a batch dimension, seen as N × C × D × H × W; results of such operators; elements of any dtype as doubles.
#ifndef TAPER_OPS_VOLUME_H
#define TAPER_OPS_VOLUME_H

#include "ops/call/call.h"

// Strides and offsets are in elements and are the physical ones: a hidden NHWC tensor simply has stride_c == 1.
typedef struct taper_volume {
    int64_t n, c;
    int64_t size[3]; // depth, height, width; absent ones are 1
    int64_t stride_n, stride_c;
    int64_t stride[3];
} taper_volume;

// The param of rows that differ in the number of spatial dimensions only.
typedef struct taper_spatial {
    uint8_t dims;
} taper_spatial;
extern const taper_spatial taper_spatial_1d, taper_spatial_2d, taper_spatial_3d;

static inline size_t taper_spatial_of(const taper_call *call)
{
    return ((const taper_spatial *)call->param)->dims;
}

// The rank must be spatial + 1 (no batch dimension: n is 1) or spatial + 2.
taper_volume taper_volume_of(const taper_tensor *tensor, size_t spatial);
// Fails unless the rank fits and every dimension but the batch is positive.
TAPER_MUST_USE taper_status taper_volume_check(const taper_call *call, const taper_tensor *tensor, size_t spatial,
                                               bool unbatched);

inline bool taper_volume_channels_inner(const taper_volume *volume)
{
    return volume->stride_c == 1 && volume->c > 1;
}

// Result `at`: x with its last `spatial` sizes replaced by the last ones of size, and x's quantizer. follows: PyTorch's
// result has x's suggested memory format; otherwise it is contiguous. Where x lies channels-last, hidden or not, the
// result does so too (hidden where PyTorch's would not). Refuses an out argument of another dtype or in x's memory.
TAPER_MUST_USE taper_status taper_volume_result(taper_call *call, size_t at, const taper_tensor *x, taper_dtype dtype,
                                                size_t spatial, const int64_t size[3], bool follows,
                                                taper_tensor **out);
// An out argument must have the dtype of the result and must not share memory with an input.
TAPER_MUST_USE taper_status taper_out_check(const taper_call *call, size_t at, const taper_tensor *x,
                                            taper_dtype dtype);

// Elements as doubles; quantized ones as their integers. Storing rounds to nearest even and saturates.
double taper_number_load(taper_dtype dtype, const void *data, int64_t index);
void taper_number_store(taper_dtype dtype, void *data, int64_t index, double value);

// The strides that PyTorch's empty_like gives a copy of tensor: its own when dense, otherwise in the same order.
void taper_strides_like(const taper_tensor *tensor, const int64_t *sizes, int64_t *strides);

#endif
