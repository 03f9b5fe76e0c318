// SPDX-License-Identifier: BSD-2-Clause
// A strip of a gemm of bytes: all panels for mr rows. The last panel is computed as a single vector if one vector has
// enough columns.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_STRIP_TMPL_H
#define TAPER_OPS_KERNELS_GEMM_I8_STRIP_TMPL_H

TAPER_TEMPLATE void strip(const size_t kind, const size_t mr, const taper_gemm_i8 *t, const adding *way)
{
    const size_t groups = t->ks * ((t->kc + 3) / 4), panel = groups * (4 * NR) + MARK_BYTES(groups);
    const int8_t *w = t->w;
    size_t column = 0;
    while (t->nc - column > LANES) {
        const size_t n = t->nc - column < NR ? t->nc - column : NR;
#ifdef HALVES
        if (mr >= LEAST_OF_HALVES && n <= LANES + LANES / 2 && t->e.shift == NULL) {
            half_tile(mr, t, w, column, n);
            return;
        }
#endif
        tile(kind, mr, 2, t, way, w, column, n);
        if ((column += n) == t->nc)
            return;
        w += panel;
    }
    tile(kind, mr, 1, t, way, w, column, t->nc - column);
}

#endif
