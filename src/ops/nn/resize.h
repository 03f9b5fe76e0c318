// SPDX-License-Identifier: BSD-2-Clause
// Resizing: upsample_* and interpolate. All of them use a table per axis: the input positions that an output position
// reads, and their weights. See resize.c.
#ifndef TAPER_OPS_RESIZE_H
#define TAPER_OPS_RESIZE_H

#include "ops/engine/volume.h"

typedef enum taper_resize_mode {
    TAPER_RESIZE_NEAREST,
    TAPER_RESIZE_NEAREST_EXACT,
    TAPER_RESIZE_LINEAR,
    TAPER_RESIZE_CUBIC,
    TAPER_RESIZE_LINEAR_AA, // antialiased: the filter is wider if the image shrinks
    TAPER_RESIZE_CUBIC_AA,
    TAPER_RESIZE_LANCZOS_AA
} taper_resize_mode;

typedef struct taper_resize {
    taper_resize_mode mode;
    size_t spatial;
    int64_t size[3]; // depth, height and width of the output
    double scale[3]; // given scale; 0: none, so the ratio of the sizes is used
    bool align_corners;
    bool fused;  // PyTorch computes these with fused multiply-add (channels-last quantized tensors)
    bool whole;  // nearest: if the size stays or doubles, the sizes decide and not the scale
    bool scales; // channels-last or resized quantized x: a given scale is used even if an axis keeps its size
} taper_resize;

// The table of an axis. Output position o reads `taps` input positions index[o · taps + i] with weight[o · taps + i].
// An antialiased table has only count[o] of them, and these are consecutive.
typedef struct taper_resize_axis {
    int64_t input, output, taps;
    int64_t *index;
    double *weight; // float values if the tensor is float32; NULL for the nearest modes
    int64_t *count; // NULL unless antialiased
    // Nearest: output positions [run_at, run_at + run) read consecutive input positions; run 0: unknown.
    int64_t run_at, run;
    size_t index_bytes, weight_bytes, count_bytes;
} taper_resize_axis;

TAPER_MUST_USE taper_status taper_resize_axis_make(const taper_call *call, const taper_resize *resize, size_t axis,
                                                   int64_t input, taper_dtype dtype, taper_resize_axis *table);
void taper_resize_axis_free(const taper_call *call, taper_resize_axis *table);

// Computes result 0 from x.
TAPER_MUST_USE taper_status taper_resize_run(taper_call *call, const taper_tensor *x, const taper_resize *resize);

// The loops over the elements. item is the size of an element in bytes; zero is the zero point of quantized tensors.
void taper_resize_nearest(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const void *in,
                          const taper_volume *y, void *out, size_t item);
TAPER_MUST_USE taper_status taper_resize_weighted(const taper_call *call, const taper_resize_axis *axes,
                                                  taper_dtype dtype, const taper_volume *x, const void *in,
                                                  const taper_volume *y, void *out, double zero, bool fused);
// Linear interpolation in two dimensions by vector kernels; axes[0] has size 1. The first function computes NHWC floats
// from NHWC floats, or planes from either layout; the second one computes NHWC bytes. They return TAPER_DECLINED if
// nothing was done. Builds with operators that interpolate contain them (TAPER_INTERPOLATES).
TAPER_MUST_USE taper_status taper_resize_bilinear(taper_run *run, const taper_resize_axis *axes, const taper_volume *x,
                                                  const float *in, const taper_volume *y, float *out);
TAPER_MUST_USE taper_status taper_resize_bilinear_u8(taper_run *run, const taper_resize_axis *axes,
                                                     const taper_volume *x, const uint8_t *in, const taper_volume *y,
                                                     uint8_t *out, int32_t zero_point);
TAPER_MUST_USE taper_status taper_resize_antialiased(const taper_call *call, const taper_resize_axis *axes,
                                                     taper_dtype dtype, const taper_volume *x, const void *in,
                                                     const taper_volume *y, void *out);
// Resizes bytes by tables of the linear, cubic and antialiased modes in doubles. The weights of the tables are
// overwritten.
TAPER_MUST_USE taper_status taper_resize_bytes(const taper_call *call, const taper_resize_axis *axes,
                                               const taper_volume *x, const uint8_t *in, const taper_volume *y,
                                               uint8_t *out);

#endif
