// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/scalar/gemm_f32_pack_ahead.h in small builds. They transpose rows into a block, which
// put_row then packs like any other rows.
#ifndef TAPER_OPS_KERNELS_SCALAR_GEMM_F32_PACK_AHEAD_H
#define TAPER_OPS_KERNELS_SCALAR_GEMM_F32_PACK_AHEAD_H

static inline void pack_turned(const taper_gemm_pack *pack, const float *from, const float *scale, size_t width,
                               size_t depth, size_t nr, float *block, float *to)
{
    pack->transpose(width, depth, from, pack->n_stride, block, MOST_NR);
    for (size_t i = 0; i < depth; i++, to += nr) {
        put_row(block + i * MOST_NR, scale, width, nr, to);
    }
}

static inline void read_panel_ahead(const taper_gemm_pack *pack, size_t n, size_t width, size_t k)
{
    (void)pack, (void)n, (void)width, (void)k;
}

#endif
