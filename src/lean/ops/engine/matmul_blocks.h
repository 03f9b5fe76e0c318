// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/matmul_blocks.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_MATMUL_BLOCKS_H
#define TAPER_OPS_ENGINE_MATMUL_BLOCKS_H

#include "ops/engine/matmul.h"

static inline taper_status taper_gemm_blocks(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch)
{
    (void)run, (void)gemm, (void)batch;
    return TAPER_DECLINED;
}

#endif
