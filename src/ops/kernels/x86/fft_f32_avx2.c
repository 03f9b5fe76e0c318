// SPDX-License-Identifier: BSD-2-Clause
// Fourier transforms for AVX2; builds for size have none.
#include "ops/kernels/fft_f32.h"

#if !TAPER_SMALL
#include "ops/kernels/fft_f32_tmpl.h"

FFT_ENTRY(avx2)
#endif
