// SPDX-License-Identifier: BSD-2-Clause
// Convolutions that read images in place (conv_windows.c). Include this after conv_cpu.h.
#ifndef TAPER_BACKENDS_CPU_CONV_IMAGES_H
#define TAPER_BACKENDS_CPU_CONV_IMAGES_H

// taper_conv2d_is_windows returns true for a convolution if taper_conv2d_is_stem returns true, the rows are long
// enough, and the CPU has a kernel for overlapping windows. taper_conv2d_windows computes such convolutions.
bool taper_conv2d_is_windows(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_windows(taper_conv2d *job);

#endif
