// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/matmul_gemm_tiles.h in small builds, which have matrix products by tiles only for floats.
#ifndef TAPER_OPS_ENGINE_MATMUL_GEMM_TILES_H
#define TAPER_OPS_ENGINE_MATMUL_GEMM_TILES_H

static inline bool has_tile(taper_dtype dtype)
{
    return dtype == TAPER_F32;
}

static inline void run_tiles(taper_run *run, const taper_gemm *gemm, void *pack)
{
    tiled_f32(run, gemm, pack, plain_tile_f32);
}

static inline bool is_tiny(const taper_gemm *gemm)
{
    (void)gemm;
    return false;
}

static inline void tiny_f32(const taper_gemm *gemm)
{
    (void)gemm;
}

static inline bool has_pairs(const taper_gemm *gemm)
{
    (void)gemm;
    return false;
}

static inline taper_status run_pairs(taper_run *run, const taper_gemm *gemm)
{
    (void)run, (void)gemm;
    return TAPER_DECLINED;
}

#endif
