// SPDX-License-Identifier: BSD-2-Clause
// Products of doubles, and batches of small products of floats.
#ifndef TAPER_OPS_ENGINE_MATMUL_BLOCKS_H
#define TAPER_OPS_ENGINE_MATMUL_BLOCKS_H

#include "ops/engine/matmul.h"

// Computes products of doubles, and batches of small products of floats, with the kernels of native.h. Returns
// TAPER_DECLINED, with nothing written, for other products.
TAPER_MUST_USE taper_status taper_gemm_blocks(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch);

#endif
