// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes with NEON of 32-bit ARM.
#include "ops/kernels/simd_neon32.h"

#include "ops/kernels/planar_f32_tmpl.h"
