// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes with AVX2.
#include "ops/kernels/simd_avx2.h"

#include "ops/kernels/planar_f32_tmpl.h"
