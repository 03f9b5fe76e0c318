// SPDX-License-Identifier: BSD-2-Clause
// Part of matmul_packed.c: products of few rows, by the planar kernels.
#ifndef TAPER_OPS_ENGINE_MATMUL_PACKED_ROWS_H
#define TAPER_OPS_ENGINE_MATMUL_PACKED_ROWS_H

static bool are_rows(const taper_gemm *gemm, const product_job *job)
{
    return TAPER_HAS_OP(conv_planar) && gemm->m >= 2 && gemm->m <= MOST_ROWS && gemm->n >= LEAST_COLUMNS &&
           gemm->b_column == 1 && !gemm->add && (job->count == 1 || !job->shared);
}

#endif
