// SPDX-License-Identifier: BSD-2-Clause
// Quantized convolutions that read images in place (quantized_conv_windows.c). Include this after quantized_conv_cpu.h.
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_CONV_IMAGES_H
#define TAPER_BACKENDS_CPU_QUANTIZED_CONV_IMAGES_H

// taper_conv2d_i8_is_windows returns true for convolutions with few channels (`stem`) that are faster by products over
// overlapping windows. taper_conv2d_i8_windows computes such convolutions. The function reads the tensor x, with any
// strides, and sets job->x.
bool taper_conv2d_i8_is_windows(const taper_conv2d_i8 *job);
TAPER_MUST_USE taper_status taper_conv2d_i8_windows(taper_conv2d_i8 *job, const taper_tensor *x);

#endif
