// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms in plain C.
#include "ops/kernels/simd_scalar.h"

#include "ops/kernels/winograd_f32_tmpl.h"

WINOGRAD_F32(f4, 4)
WINOGRAD_F32(f2, 2)
