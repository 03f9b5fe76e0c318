// SPDX-License-Identifier: BSD-2-Clause
// The distance of prefetches of weights.
#ifndef TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H
#define TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H

#define AHEAD(t) (t)->ahead
// Sets the distance of prefetches. For every strip except the first the weights are in the cache. The last strip
// prefetches the memory after the weights, because callers store weights in the order of use.
#define SET_AHEAD(t, s, count)                                                                                         \
    if ((s) > 0 && (s) + 1 == (count))                                                                                 \
        (t)->ahead = ((nc - 1) / NR + 1) * (kc + 1) * NR * sizeof(float);

#endif
