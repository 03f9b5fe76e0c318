// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with weights of halves, with NEON of 32-bit ARM.
#include "ops/kernels/simd_neon32.h"

#include "ops/kernels/gemm_half_widen.h"

GEMM_WIDENED(4x8, neon32, 8)
