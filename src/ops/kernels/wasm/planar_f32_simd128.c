// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes with WebAssembly's vectors.
#include "ops/kernels/simd_simd128.h"

#include "ops/kernels/planar_f32_tmpl.h"
