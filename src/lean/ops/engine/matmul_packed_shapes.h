// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/matmul_packed_shapes.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_MATMUL_PACKED_SHAPES_H
#define TAPER_OPS_ENGINE_MATMUL_PACKED_SHAPES_H

static inline bool are_columns(const taper_gemm *gemm)
{
    (void)gemm;
    return false;
}

static inline int64_t least_rows(const taper_gemm *gemm)
{
    (void)gemm;
    return 4;
}

static inline int64_t least_depth(const taper_gemm *gemm)
{
    (void)gemm;
    return 4;
}

#endif
