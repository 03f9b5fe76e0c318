// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/conv_stem_counts.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_CONV_STEM_COUNTS_H
#define TAPER_BACKENDS_CPU_CONV_STEM_COUNTS_H

static inline void copy_pixels(size_t pixels, size_t kc, const float *from, size_t from_step, float *to, size_t to_step)
{
    copy_floats(pixels, kc, from, from_step, to, to_step);
}

#endif
