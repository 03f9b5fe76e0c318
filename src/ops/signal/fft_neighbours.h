// SPDX-License-Identifier: BSD-2-Clause
// Loading and storing groups whose lines are at the same distance from one another (fft_lines.c). Include it after
// fft_plan.h.
#ifndef TAPER_OPS_SIGNAL_FFT_NEIGHBOURS_H
#define TAPER_OPS_SIGNAL_FFT_NEIGHBOURS_H

// These functions fill the m points at `a` from the group's lines, for a plan with TAPER_FFT_LANES lanes. spare has
// room for m points and is overwritten. They return false, with nothing done, if the lines are not at equal distances.
bool taper_fft_lines_load_f32(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare);
bool taper_fft_lines_load_f64(const taper_fft *fft, const taper_fft_group *g, double *a, double *spare);
// These functions write the group's lines from the points at `a`, and overwrite both `a` and `spare`. They return
// false, with nothing done, if the lines are not at equal distances or the group is not full.
bool taper_fft_lines_store_f32(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare);
bool taper_fft_lines_store_f64(const taper_fft *fft, const taper_fft_group *g, double *a, double *spare);

#endif
