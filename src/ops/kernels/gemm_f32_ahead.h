// SPDX-License-Identifier: BSD-2-Clause
// How far ahead weights are asked for.
#ifndef TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H
#define TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H

#define AHEAD(t) (t)->ahead
// The weights of all strips but the first are in the cache: the last asks for those behind, which callers have in the
// order in which they use them.
#define SET_AHEAD(t, s, count)                                                                                         \
    if ((s) > 0 && (s) + 1 == (count))                                                                                 \
        (t)->ahead = ((nc - 1) / NR + 1) * (kc + 1) * NR * sizeof(float);

#endif
