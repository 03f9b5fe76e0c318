// SPDX-License-Identifier: BSD-2-Clause
// Computes a strip (the rows of one tile) of an int8 matrix product, in tiles that are two vectors wide.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_STRIP_TMPL_H
#define TAPER_OPS_KERNELS_GEMM_I8_STRIP_TMPL_H

TAPER_TEMPLATE void strip(const size_t kind, const size_t mr, const taper_gemm_i8 *t, const adding *way)
{
    const size_t groups = t->ks * ((t->kc + 3) / 4), panel = groups * (4 * NR) + MARK_BYTES(groups);
    const int8_t *w = t->w;
    size_t column = 0;
    for (; column < t->nc; column += NR, w += panel)
        tile(kind, mr, 2, t, way, w, column, t->nc - column < NR ? t->nc - column : NR);
}

#endif
