// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/conv_images.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_CONV_IMAGES_H
#define TAPER_BACKENDS_CPU_CONV_IMAGES_H

static inline bool taper_conv2d_is_windows(const taper_conv2d *job)
{
    (void)job;
    return false;
}

static inline taper_status taper_conv2d_windows(taper_conv2d *job)
{
    (void)job;
    return TAPER_DECLINED;
}

#endif
