// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/quantized_conv_images.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_CONV_IMAGES_H
#define TAPER_BACKENDS_CPU_QUANTIZED_CONV_IMAGES_H

static inline bool taper_conv2d_i8_is_windows(const taper_conv2d_i8 *job)
{
    (void)job;
    return false;
}

static inline taper_status taper_conv2d_i8_windows(taper_conv2d_i8 *job, const taper_tensor *x)
{
    (void)job, (void)x;
    return TAPER_DECLINED;
}

#endif
