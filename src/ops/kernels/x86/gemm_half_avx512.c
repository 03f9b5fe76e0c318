// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with weights of halves in AVX-512.
#include "ops/kernels/simd_avx512.h"

#include "ops/kernels/gemm_half_widen.h"

GEMM_WIDENED(14x32, avx512, 32)
