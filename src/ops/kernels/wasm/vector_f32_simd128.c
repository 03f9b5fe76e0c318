// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h with WebAssembly's vectors.
#include "ops/kernels/simd_simd128.h"

#include "ops/kernels/vector_f32_tmpl.h"

VECTOR_ENTRY(simd128)
