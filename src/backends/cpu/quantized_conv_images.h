// SPDX-License-Identifier: BSD-2-Clause
// Quantized convolutions of images as they lie (quantized_conv_windows.c). Included behind quantized_conv_cpu.h.
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_CONV_IMAGES_H
#define TAPER_BACKENDS_CPU_QUANTIZED_CONV_IMAGES_H

// Of a stem: reads x, whatever its strides, and sets the job's.
bool taper_conv2d_i8_is_windows(const taper_conv2d_i8 *job);
TAPER_MUST_USE taper_status taper_conv2d_i8_windows(taper_conv2d_i8 *job, const taper_tensor *x);

#endif
