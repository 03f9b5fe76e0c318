// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm with weights of halves in portable C.
#include "ops/kernels/simd_scalar.h"

#include "ops/kernels/gemm_half_widen.h"

GEMM_WIDENED(4x4, scalar, 4)
