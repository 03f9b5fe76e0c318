// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of images as they lie (conv_windows.c). Included behind conv_cpu.h.
#ifndef TAPER_BACKENDS_CPU_CONV_IMAGES_H
#define TAPER_BACKENDS_CPU_CONV_IMAGES_H

// The same for those whose rows of pixels are long enough, where the CPU has a kernel for that.
bool taper_conv2d_is_windows(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_windows(taper_conv2d *job);

#endif
