// SPDX-License-Identifier: BSD-2-Clause
// Loads and stores the first lanes of a vector. Masks the other lanes, unless all lanes are known to be valid.
#ifndef TAPER_OPS_KERNELS_SIMD_TAIL_AVX2_H
#define TAPER_OPS_KERNELS_SIMD_TAIL_AVX2_H

TAPER_TEMPLATE V v_load_t(const float *p, VT t)
{
    return _mm256_maskload_ps(p, v_lanes(t));
}

TAPER_TEMPLATE void v_store_t(float *p, V x, VT t)
{
    if (__builtin_constant_p(t) && t >= VN) {
        _mm256_storeu_ps(p, x);
    } else {
        _mm256_maskstore_ps(p, v_lanes(t), x);
    }
}

#endif
