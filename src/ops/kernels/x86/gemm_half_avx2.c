// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with weights of halves in AVX2.
#include "ops/kernels/simd_avx2.h"

#include "ops/kernels/gemm_half_widen.h"

GEMM_WIDENED(6x16, avx2, 16)
