// SPDX-License-Identifier: BSD-2-Clause
// In place of src/backends/cpu/conv_sampled.h: small builds omit this code.
#ifndef TAPER_BACKENDS_CPU_CONV_SAMPLED_H
#define TAPER_BACKENDS_CPU_CONV_SAMPLED_H

static inline bool is_sampled(const taper_conv2d *job)
{
    (void)job;
    return false;
}

#endif
