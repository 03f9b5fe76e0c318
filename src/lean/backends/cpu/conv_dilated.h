// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/conv_dilated.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_CONV_DILATED_H
#define TAPER_BACKENDS_CPU_CONV_DILATED_H

static inline void run_phases(void *argument, size_t begin, size_t end)
{
    (void)argument, (void)begin, (void)end;
}

static inline bool is_dilated(const taper_conv2d *job)
{
    (void)job;
    return false;
}

#endif
