// SPDX-License-Identifier: BSD-2-Clause
// Fourier transforms with the instructions that every CPU of the architecture has.
#include "ops/kernels/fft_f32_tmpl.h"

FFT_ENTRY(scalar)
