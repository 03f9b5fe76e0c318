// SPDX-License-Identifier: BSD-2-Clause
// Fourier transforms for AVX2.
#include "ops/kernels/fft_f32.h"
#include "ops/kernels/fft_f32_tmpl.h"

FFT_ENTRY(avx2)
