// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/signal/fft_neighbours.h in small builds, which omit its code.
#ifndef TAPER_OPS_SIGNAL_FFT_NEIGHBOURS_H
#define TAPER_OPS_SIGNAL_FFT_NEIGHBOURS_H

static inline bool taper_fft_lines_load_f32(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare)
{
    (void)fft, (void)g, (void)a, (void)spare;
    return false;
}

static inline bool taper_fft_lines_load_f64(const taper_fft *fft, const taper_fft_group *g, double *a, double *spare)
{
    (void)fft, (void)g, (void)a, (void)spare;
    return false;
}

static inline bool taper_fft_lines_store_f32(const taper_fft *fft, const taper_fft_group *g, float *a, float *spare)
{
    (void)fft, (void)g, (void)a, (void)spare;
    return false;
}

static inline bool taper_fft_lines_store_f64(const taper_fft *fft, const taper_fft_group *g, double *a, double *spare)
{
    (void)fft, (void)g, (void)a, (void)spare;
    return false;
}

#endif
