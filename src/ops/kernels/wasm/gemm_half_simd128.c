// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with weights of halves in SIMD of WebAssembly.
#include "ops/kernels/simd_simd128.h"

#include "ops/kernels/gemm_half_widen.h"

GEMM_WIDENED(6x8, simd128, 8)
