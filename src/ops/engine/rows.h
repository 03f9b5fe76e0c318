// SPDX-License-Identifier: BSD-2-Clause
// Rows of plain floats, one after the other, by the vector kernels and on the run's threads: softmax, layer norm,
// affine maps, activations. For runs that are not portable.
#ifndef TAPER_OPS_ROWS_H
#define TAPER_OPS_ROWS_H

#include "ops/call/parallel.h"

typedef enum taper_rows_function { TAPER_ROWS_RELU, TAPER_ROWS_GELU } taper_rows_function;

// y[row] = softmax or log_softmax of x[row], `width` floats each. y may be x.
TAPER_MUST_USE taper_status taper_rows_softmax(taper_run *run, bool logarithm, size_t rows, size_t width,
                                               const float *x, float *y);
// Rows normalised to mean 0 and variance 1, times weight, plus bias (each may be NULL). y may be x.
TAPER_MUST_USE taper_status taper_rows_layer_norm(taper_run *run, size_t rows, size_t width, const float *x,
                                                  const float *weight, const float *bias, double eps, float *y);
// Rows divided by the root of their mean square, times weight (may be NULL). y may be x.
TAPER_MUST_USE taper_status taper_rows_rms_norm(taper_run *run, size_t rows, size_t width, const float *x,
                                                const float *weight, double eps, float *y);
// y[r][c] = x[r][c] * scale[c] + shift[c]; strides in floats.
TAPER_MUST_USE taper_status taper_rows_channels(taper_run *run, size_t rows, size_t count, const float *x,
                                                size_t x_stride, const float *scale, const float *shift, float *y,
                                                size_t y_stride);
// y[r] = x[r] * scale[r] + shift[r] over planes of `count` floats, one after the other.
TAPER_MUST_USE taper_status taper_rows_planes(taper_run *run, size_t planes, size_t count, const float *x,
                                              const float *scale, const float *shift, float *y);
// In place; gelu is the exact one. Only where an operator of the build asks for the function (ops/list/op_features.h).
TAPER_MUST_USE taper_status taper_rows_activate(taper_run *run, taper_rows_function function, size_t count, float *x);

#endif
