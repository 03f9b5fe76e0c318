// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/conv_sampled.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_CONV_SAMPLED_H
#define TAPER_BACKENDS_CPU_CONV_SAMPLED_H

static inline bool is_sampled(const taper_conv2d *job)
{
    (void)job;
    return false;
}

#endif
