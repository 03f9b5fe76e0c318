// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution with NEON.
#include "ops/kernels/simd_neon.h"

#include "ops/kernels/dwconv_f32_3x3_neon.h"
#include "ops/kernels/dwconv_f32_5x5_neon.h"
#include "ops/kernels/dwconv_f32_tmpl.h"

TAPER_OP_IF(dwconv_k3, OF_3X3(k3s1, 1))
TAPER_OP_IF(dwconv_k3, OF_3X3(k3s2, 2))
TAPER_OP_IF(dwconv_k5, OF_5X5(k5s1, 1))
TAPER_OP_IF(dwconv_k5, OF_5X5(k5s2, 2))
TAPER_OP_IF(dwconv_k7, DWCONV(k7s1, 7, 1))
DWCONV_TAPS
