// SPDX-License-Identifier: BSD-2-Clause
// Resizing: upsample_* and interpolate. What they share is the table of an axis: which input positions make an output
// position, and with which weights. See resize.c.
#ifndef TAPER_OPS_RESIZE_H
#define TAPER_OPS_RESIZE_H

#include "ops/engine/volume.h"

typedef enum taper_resize_mode {
    TAPER_RESIZE_NEAREST,
    TAPER_RESIZE_NEAREST_EXACT,
    TAPER_RESIZE_LINEAR,
    TAPER_RESIZE_CUBIC,
    TAPER_RESIZE_LINEAR_AA, // antialiased: the filter widens when the image shrinks
    TAPER_RESIZE_CUBIC_AA,
    TAPER_RESIZE_LANCZOS_AA
} taper_resize_mode;

typedef struct taper_resize {
    taper_resize_mode mode;
    size_t spatial;
    int64_t size[3]; // of the output: depth, height, width
    double scale[3]; // as given; 0: none was, the sizes decide
    bool align_corners;
    bool fused;  // of channels-last quantized tensors PyTorch computes with fused multiplications
    bool whole;  // nearest: where the size stays or doubles it decides, whatever the scale is
    bool scales; // of quantized tensors given scales count where sizes stay, too, unless a contiguous one is copied
} taper_resize;

// Output position o reads taps input positions: index[o · taps + i] with weight[o · taps + i]. Of antialiased tables
// only the first count[o] are there, and they follow each other.
typedef struct taper_resize_axis {
    int64_t input, output, taps;
    int64_t *index;
    double *weight;      // float values where the tensor is float32; NULL for the nearest modes
    int64_t *count;      // NULL unless antialiased
    int64_t run_at, run; // nearest: from there on so many positions follow each other in the input; 0: unknown
    size_t index_bytes, weight_bytes, count_bytes;
} taper_resize_axis;

TAPER_MUST_USE taper_status taper_resize_axis_make(const taper_call *call, const taper_resize *resize, size_t axis,
                                                   int64_t input, taper_dtype dtype, taper_resize_axis *table);
void taper_resize_axis_free(const taper_call *call, taper_resize_axis *table);

// Result 0 from x.
TAPER_MUST_USE taper_status taper_resize_run(taper_call *call, const taper_tensor *x, const taper_resize *resize);

// The loops. item is the size of an element, zero the zero point of quantized ones.
void taper_resize_nearest(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const void *in,
                          const taper_volume *y, void *out, size_t item);
TAPER_MUST_USE taper_status taper_resize_weighted(const taper_call *call, const taper_resize_axis *axes,
                                                  taper_dtype dtype, const taper_volume *x, const void *in,
                                                  const taper_volume *y, void *out, double zero, bool fused);
// Linear interpolation in two dimensions (axes[0] is trivial) by vector kernels: between NHWC floats, or to planes;
// between NHWC bytes. TAPER_DECLINED: nothing was done. Where operators of the build interpolate (TAPER_INTERPOLATES).
TAPER_MUST_USE taper_status taper_resize_bilinear(taper_run *run, const taper_resize_axis *axes, const taper_volume *x,
                                                  const float *in, const taper_volume *y, float *out);
TAPER_MUST_USE taper_status taper_resize_bilinear_u8(taper_run *run, const taper_resize_axis *axes,
                                                     const taper_volume *x, const uint8_t *in, const taper_volume *y,
                                                     uint8_t *out, int32_t zero_point);
TAPER_MUST_USE taper_status taper_resize_antialiased(const taper_call *call, const taper_resize_axis *axes,
                                                     taper_dtype dtype, const taper_volume *x, const void *in,
                                                     const taper_volume *y, void *out);
// Of bytes, by tables of the linear, cubic and antialiased modes in doubles, whose weights are spoilt.
TAPER_MUST_USE taper_status taper_resize_bytes(const taper_call *call, const taper_resize_axis *axes,
                                               const taper_volume *x, const uint8_t *in, const taper_volume *y,
                                               uint8_t *out);

#endif
