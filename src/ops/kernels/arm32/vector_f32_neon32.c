// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h with NEON of 32-bit ARM.
#include "ops/kernels/simd_neon32.h"

#include "ops/kernels/vector_f32_tmpl.h"

VECTOR_ENTRY(neon32)
