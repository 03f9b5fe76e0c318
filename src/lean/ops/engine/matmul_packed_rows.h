// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/matmul_packed_rows.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_MATMUL_PACKED_ROWS_H
#define TAPER_OPS_ENGINE_MATMUL_PACKED_ROWS_H

static inline bool are_rows(const taper_gemm *gemm, const product_job *job)
{
    (void)gemm, (void)job;
    return false;
}

#endif
