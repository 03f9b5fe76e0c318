// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes with AVX-512.
#include "ops/kernels/simd_avx512.h"

#include "ops/kernels/planar_f32_tmpl.h"
