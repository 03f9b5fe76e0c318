// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h with NEON.
#include "ops/kernels/simd_neon.h"

#include "ops/kernels/vector_f32_tmpl.h"

VECTOR_ENTRY(neon)
