// SPDX-License-Identifier: BSD-2-Clause
// A strip of a float gemm: all panels for mr rows. The last panel is computed as a single vector if one vector has
// enough columns.
#ifndef TAPER_OPS_KERNELS_GEMM_F32_STRIP_TMPL_H
#define TAPER_OPS_KERNELS_GEMM_F32_STRIP_TMPL_H

TAPER_TEMPLATE void strip(const size_t mr, const call *t)
{
    const size_t panel = (t->ks * t->kc + 1) * NR;
    const float *w = t->w, *add = t->e->add;
    float *c = t->c;
    size_t n = t->nc;
    for (; n > VN; n -= n < NR ? n : NR) {
        tile(mr, 2, PARTS(mr), t, w, c, add, v_first(VN), v_first(n < NR ? n - VN : VN));
        w += panel;
        c += NR;
        add = add != NULL ? add + NR : NULL;
    }
    if (n > 0)
        tile(mr, 1, PARTS(mr), t, w, c, add, v_first(n), v_first(n));
}

#endif
