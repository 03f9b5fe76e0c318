// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution with NEON of 32-bit ARM.
#include "ops/kernels/simd_neon32.h"

#include "ops/kernels/dwconv_f32_tmpl.h"

TAPER_OP_IF(dwconv_k3, DWCONV(k3s1, 3, 1))
TAPER_OP_IF(dwconv_k3, DWCONV(k3s2, 3, 2))
TAPER_OP_IF(dwconv_k5, DWCONV(k5s1, 5, 1))
TAPER_OP_IF(dwconv_k5, DWCONV(k5s2, 5, 2))
TAPER_OP_IF(dwconv_k7, DWCONV(k7s1, 7, 1))
DWCONV_TAPS
