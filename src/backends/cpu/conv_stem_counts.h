// SPDX-License-Identifier: BSD-2-Clause
// Part of conv_stem.c: makes the usual numbers of floats under a kernel row, 9 and 21, compile-time constants.
#ifndef TAPER_BACKENDS_CPU_CONV_STEM_COUNTS_H
#define TAPER_BACKENDS_CPU_CONV_STEM_COUNTS_H

static void copy_pixels(size_t pixels, size_t kc, const float *from, size_t from_step, float *to, size_t to_step)
{
    if (kc == 9) {
        copy_floats(pixels, 9, from, from_step, to, to_step);
    } else if (kc == 21) {
        copy_floats(pixels, 21, from, from_step, to, to_step);
    } else {
        copy_floats(pixels, kc, from, from_step, to, to_step);
    }
}

#endif
