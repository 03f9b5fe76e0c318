// SPDX-License-Identifier: BSD-2-Clause
// The optional loops of the float gemm with AVX-512. They are faster in special cases; the other loops can compute
// every case.
#ifndef TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX512_H
#define TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX512_H

#define LEAST_EVEN 12
#define EACH_EVEN_MR(X) X(12) X(13) X(14) // strips have these numbers of rows if there are many rows
#define HALVES
TAPER_TEMPLATE V v_twice(const float *p)
{
    return _mm512_broadcast_f32x8(_mm256_loadu_ps(p));
}
TAPER_TEMPLATE V v_halves(V a, V b)
{
    return _mm512_mask_blend_ps(0xFF00, a, b);
}
TAPER_TEMPLATE V v_whole(V a, V b)
{
    return _mm512_insertf32x8(a, _mm512_castps512_ps256(b), 1);
}
TAPER_TEMPLATE void v_store_halves(float *lower, float *upper, V x, VT lanes)
{
    v_store_t(lower, x, lanes);
    if (upper != NULL)
        v_store_t(upper, _mm512_castps256_ps512(_mm512_extractf32x8_ps(x, 1)), lanes);
}

#endif
