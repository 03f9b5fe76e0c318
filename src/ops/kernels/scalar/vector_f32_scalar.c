// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h in plain C.
#include "ops/kernels/simd_scalar.h"

#include "ops/kernels/vector_f32_tmpl.h"

VECTOR_ENTRY(scalar)
