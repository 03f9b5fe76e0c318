// SPDX-License-Identifier: BSD-2-Clause
// Lines at the same distance from one another (fft_lines.c). Included behind fft_plan.h.
#ifndef TAPER_OPS_SIGNAL_FFT_NEIGHBOURS_H
#define TAPER_OPS_SIGNAL_FFT_NEIGHBOURS_H

// Fills the m points at a, for a plan with TAPER_FFT_LANES lanes; spare is as large. False: the lines lie otherwise,
// and nothing was done.
bool taper_fft_lines_load_f32(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare);
bool taper_fft_lines_load_f64(const taper_fft *fft, const taper_fft_group *g, double *a, double *spare);
// From the points at a, of which nothing is left.
bool taper_fft_lines_store_f32(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare);
bool taper_fft_lines_store_f64(const taper_fft *fft, const taper_fft_group *g, double *a, double *spare);

#endif
