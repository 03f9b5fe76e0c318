// SPDX-License-Identifier: BSD-2-Clause
// strip() of the gemm kernels in builds for size: one tile for all panels. If the last panel lacks columns, it is
// computed into a buffer of the whole width and copied. Include this file after tile() and TILE(mr, call, w, c, add), a
// tile of whole width.
#include <string.h>

// Copies n of NR columns; the other columns of `to` are not changed.
TAPER_INSTANCE void move_columns(size_t mr, size_t n, const float *from, size_t from_stride, float *to,
                                 size_t to_stride)
{
    for (size_t i = 0; i < mr; i++)
        memcpy(to + i * to_stride, from + i * from_stride, n * sizeof *to);
}

TAPER_TEMPLATE void strip(const size_t mr, const call *t)
{
    float made[MR_MAX * NR], summand[MR_MAX * NR] = {0};
    taper_gemm_epilogue e = *t->e;
    call last = *t;
    e.add_stride = last.c_stride = NR;
    last.e = &e;
    const float *w = t->w;
    for (size_t n = 0; n < t->nc; n += NR, w += (t->ks * t->kc + 1) * NR) {
        const size_t left = t->nc - n;
        const float *add = e.add != NULL ? e.add + n : NULL;
        if (left < NR && add != NULL) {
            move_columns(t->mr, left, add, t->e->add_stride, summand, NR);
            add = summand;
        }
        TILE(mr, left < NR ? &last : t, w, left < NR ? made : t->c + n, add);
        if (left < NR)
            move_columns(t->mr, left, made, NR, t->c + n, t->c_stride);
    }
}
