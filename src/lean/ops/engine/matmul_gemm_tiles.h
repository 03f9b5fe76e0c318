// SPDX-License-Identifier: BSD-2-Clause
// Small builds have tiles of floats alone.
#ifndef TAPER_OPS_ENGINE_MATMUL_GEMM_TILES_H
#define TAPER_OPS_ENGINE_MATMUL_GEMM_TILES_H

static inline bool has_tile(taper_dtype dtype)
{
    return dtype == TAPER_F32;
}

static inline void find_tiles(const taper_run *run, taper_tile_f64 **tile_f64, taper_tile_u64 **tile_u64)
{
    (void)run, (void)tile_f64, (void)tile_u64;
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
