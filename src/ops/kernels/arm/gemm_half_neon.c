// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with weights of halves in NEON.
#include "ops/kernels/simd_neon.h"

#include "ops/kernels/gemm_half_widen.h"

GEMM_WIDENED(5x16, neon, 16)
