// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms with NEON of 32-bit ARM.
#include "ops/kernels/simd_neon32.h"

#include "ops/kernels/winograd_f32_tmpl.h"

WINOGRAD_F32(f4, F4)
WINOGRAD_F32(f2, F2)
WINOGRAD_F32(s4, S4)
