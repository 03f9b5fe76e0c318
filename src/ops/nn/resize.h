// SPDX-License-Identifier: BSD-2-Clause
// Resizing: upsample_* and interpolate. All of these operators use a table per axis, which has the input positions that
// an output position reads, and their weights. See resize.c.
#ifndef TAPER_OPS_RESIZE_H
#define TAPER_OPS_RESIZE_H

#include "ops/engine/volume.h"

typedef enum taper_resize_mode {
    TAPER_RESIZE_NEAREST,
    TAPER_RESIZE_NEAREST_EXACT,
    TAPER_RESIZE_LINEAR,
    TAPER_RESIZE_CUBIC,
    TAPER_RESIZE_LINEAR_AA, // linear and antialiased: if the image shrinks, an output pixel reads more input pixels
    TAPER_RESIZE_CUBIC_AA,
    TAPER_RESIZE_LANCZOS_AA
} taper_resize_mode;

typedef struct taper_resize {
    taper_resize_mode mode;
    size_t spatial;
    int64_t size[3]; // depth, height and width of the output
    double scale[3]; // scales that were given; 0 if none was given, so that the ratio of the sizes is used
    bool align_corners;
    bool fused; // true if PyTorch uses fused multiply-add (for channels-last quantized tensors)
    bool whole; // for nearest: true if the scale is ignored when the size stays or doubles
    // True if a given scale is used even for an axis that keeps its size. This is so if x is channels-last, or if x is
    // quantized and some size changes.
    bool scales;
} taper_resize;

// The table of an axis. Output position o reads `taps` input positions index[o · taps + i] with weight[o · taps + i].
// In an antialiased table only the first count[o] of these positions are read, which are consecutive.
typedef struct taper_resize_axis {
    int64_t input, output, taps;
    int64_t *index;
    double *weight; // weights, as float if the tensor is float32, otherwise as double; NULL for the nearest modes
    int64_t *count; // number of taps of each output position; NULL unless the mode is antialiased
    // For nearest: output positions [run_at, run_at + run) read consecutive input positions. run is 0 if no such range
    // is known.
    int64_t run_at, run;
    size_t index_bytes, weight_bytes, count_bytes;
} taper_resize_axis;

TAPER_MUST_USE taper_status taper_resize_axis_make(const taper_call *call, const taper_resize *resize, size_t axis,
                                                   int64_t input, taper_dtype dtype, taper_resize_axis *table);
void taper_resize_axis_free(const taper_call *call, taper_resize_axis *table);

// Sets result 0 to the resized x.
TAPER_MUST_USE taper_status taper_resize_run(taper_call *call, const taper_tensor *x, const taper_resize *resize);

// These functions loop over the elements. item is the size of an element in bytes; zero is the zero point of quantized
// tensors.
void taper_resize_nearest(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const void *in,
                          const taper_volume *y, void *out, size_t item);
TAPER_MUST_USE taper_status taper_resize_weighted(const taper_call *call, const taper_resize_axis *axes,
                                                  taper_dtype dtype, const taper_volume *x, const void *in,
                                                  const taper_volume *y, void *out, double zero, bool fused);
// These functions interpolate linearly in two dimensions with vector kernels; axes[0] has size 1. taper_resize_bilinear
// computes NHWC floats from NHWC floats, or planes of floats from either layout. taper_resize_bilinear_u8 computes NHWC
// bytes. Both return TAPER_DECLINED if nothing was done. Only builds with operators that interpolate
// (TAPER_INTERPOLATES) contain these functions.
TAPER_MUST_USE taper_status taper_resize_bilinear(taper_run *run, const taper_resize_axis *axes, const taper_volume *x,
                                                  const float *in, const taper_volume *y, float *out);
TAPER_MUST_USE taper_status taper_resize_bilinear_u8(taper_run *run, const taper_resize_axis *axes,
                                                     const taper_volume *x, const uint8_t *in, const taper_volume *y,
                                                     uint8_t *out, int32_t zero_point);
TAPER_MUST_USE taper_status taper_resize_antialiased(const taper_call *call, const taper_resize_axis *axes,
                                                     taper_dtype dtype, const taper_volume *x, const void *in,
                                                     const taper_volume *y, void *out);
// Resizes bytes with the tables of the linear, cubic and antialiased modes in doubles. The weights of the tables are
// overwritten.
TAPER_MUST_USE taper_status taper_resize_bytes(const taper_call *call, const taper_resize_axis *axes,
                                               const taper_volume *x, const uint8_t *in, const taper_volume *y,
                                               uint8_t *out);

#endif
