// SPDX-License-Identifier: BSD-2-Clause
// Operators on contiguous rows of floats, by the vector kernels and on the run's threads: softmax, layer norm, affine
// maps, activations. run->portable must be false: a portable run uses only the portable loops.
#ifndef TAPER_OPS_ROWS_H
#define TAPER_OPS_ROWS_H

#include "ops/call/parallel.h"

typedef enum taper_rows_function { TAPER_ROWS_RELU, TAPER_ROWS_GELU } taper_rows_function;

// Computes softmax or log_softmax of each row of `width` floats. y may be x.
TAPER_MUST_USE taper_status taper_rows_softmax(taper_run *run, bool logarithm, size_t rows, size_t width,
                                               const float *x, float *y);
// Normalizes each row to mean 0 and variance 1, then multiplies by weight and adds bias, which may be NULL. y may be x.
TAPER_MUST_USE taper_status taper_rows_layer_norm(taper_run *run, size_t rows, size_t width, const float *x,
                                                  const float *weight, const float *bias, double eps, float *y);
// Divides each row by the root of its mean square, then multiplies by weight, which may be NULL. y may be x.
TAPER_MUST_USE taper_status taper_rows_rms_norm(taper_run *run, size_t rows, size_t width, const float *x,
                                                const float *weight, double eps, float *y);
// Computes y[r][c] = x[r][c] * scale[c] + shift[c]. The strides are in floats.
TAPER_MUST_USE taper_status taper_rows_channels(taper_run *run, size_t rows, size_t count, const float *x,
                                                size_t x_stride, const float *scale, const float *shift, float *y,
                                                size_t y_stride);
// Computes y[r] = x[r] * scale[r] + shift[r] for each contiguous plane r of `count` floats.
TAPER_MUST_USE taper_status taper_rows_planes(taper_run *run, size_t planes, size_t count, const float *x,
                                              const float *scale, const float *shift, float *y);
// Applies the function to `count` floats in place; gelu is the exact variant. Call it only for operators that the build
// contains (ops/list/op_features.h).
TAPER_MUST_USE taper_status taper_rows_activate(taper_run *run, taper_rows_function function, size_t count, float *x);

#endif
