// SPDX-License-Identifier: BSD-2-Clause
// Part of matmul_packed.c: conditions for few columns, few rows and shallow matrices.
#ifndef TAPER_OPS_ENGINE_MATMUL_PACKED_SHAPES_H
#define TAPER_OPS_ENGINE_MATMUL_PACKED_SHAPES_H

static bool are_columns(const taper_gemm *gemm)
{
    return gemm->n <= FEW_COLUMNS && gemm->m >= 4 && gemm->k >= LEAST_DEPTH && gemm->k <= MOST_DEPTH &&
           gemm->a_column == 1 && gemm->a_row >= 0 && gemm->b_row >= 0 && gemm->b_column >= 0 && gemm->c_column == 1 &&
           gemm->c_row >= 0;
}

static int64_t least_rows(const taper_gemm *gemm)
{
    return gemm->b_column == 1 && gemm->n >= 32 ? 2 : 4;
}

static int64_t least_depth(const taper_gemm *gemm)
{
    return (double)gemm->m * (double)gemm->n < 1024.0 ? 4 : 1;
}

#endif
