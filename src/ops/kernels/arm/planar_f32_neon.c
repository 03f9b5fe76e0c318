// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes with NEON.
#include "ops/kernels/simd_neon.h"

#include "ops/kernels/planar_f32_tmpl.h"
