// SPDX-License-Identifier: BSD-2-Clause
// The functions of simd_scalar.h for AVX-512.
#ifndef TAPER_KERNELS_SIMD_AVX512_H
#define TAPER_KERNELS_SIMD_AVX512_H

#include <immintrin.h>

#include "ops/kernels/arch.h"

#define SIMD(name) name##_avx512
#define VN 16
#define SIMD_OVER_READ 60
#define SIMD_REGISTERS 32
#define SIMD_MAX_KEEPS_NAN 0
#define SIMD_FUSED 1

typedef __m512 V;
typedef __m512i VI;
typedef __mmask16 VM;
typedef __mmask16 VT;

// clang-format off: a table
TAPER_TEMPLATE V v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
TAPER_TEMPLATE V v_widen_bf16(const uint16_t *p)
{
    const __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}
TAPER_TEMPLATE V v_widen_fp16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
TAPER_TEMPLATE void v_store(float *p, V x)
{
    _mm512_storeu_ps(p, x);
}
TAPER_TEMPLATE VT v_first(size_t n)
{
    return (VT)(n >= 16 ? 0xFFFFu : (1u << n) - 1u);
}
TAPER_TEMPLATE V v_load_t(const float *p, VT t)
{
    return _mm512_maskz_loadu_ps(t, p);
}
// Loads all lanes, because a masked load would occupy a port of the FMA units.
TAPER_TEMPLATE V v_load_over(const float *p, VT t)
{
    (void)t;
    return _mm512_loadu_ps(p);
}
TAPER_TEMPLATE void v_store_t(float *p, V x, VT t)
{
    _mm512_mask_storeu_ps(p, t, x);
}
TAPER_TEMPLATE V v_set(float x)
{
    return _mm512_set1_ps(x);
}
TAPER_TEMPLATE V v_add(V a, V b)
{
    return _mm512_add_ps(a, b);
}
TAPER_TEMPLATE V v_sub(V a, V b)
{
    return _mm512_sub_ps(a, b);
}
TAPER_TEMPLATE V v_mul(V a, V b)
{
    return _mm512_mul_ps(a, b);
}
TAPER_TEMPLATE V v_div(V a, V b)
{
    return _mm512_div_ps(a, b);
}
TAPER_TEMPLATE V v_sqrt(V a)
{
    return _mm512_sqrt_ps(a);
}
TAPER_TEMPLATE V v_fma(V a, V b, V c)
{
    return _mm512_fmadd_ps(a, b, c);
}
TAPER_TEMPLATE V v_max(V a, V b)
{
    return _mm512_max_ps(a, b);
}
TAPER_TEMPLATE V v_min(V a, V b)
{
    return _mm512_min_ps(a, b);
}
TAPER_TEMPLATE VI v_bits(V a)
{
    return _mm512_castps_si512(a);
}
TAPER_TEMPLATE V v_of_bits(VI a)
{
    return _mm512_castsi512_ps(a);
}
TAPER_TEMPLATE V v_abs(V a)
{
    return _mm512_and_ps(a, v_of_bits(_mm512_set1_epi32(0x7FFFFFFF)));
}
TAPER_TEMPLATE V v_sign(V a, V b)
{
    // 0xCA computes mask ? a : b for each bit
    return v_of_bits(_mm512_ternarylogic_epi32(_mm512_set1_epi32(0x7FFFFFFF), v_bits(a), v_bits(b), 0xCA));
}
TAPER_TEMPLATE VI vi_set(int32_t x)
{
    return _mm512_set1_epi32(x);
}
TAPER_TEMPLATE VI vi_add(VI a, VI b)
{
    return _mm512_add_epi32(a, b);
}
TAPER_TEMPLATE VI vi_sub(VI a, VI b)
{
    return _mm512_sub_epi32(a, b);
}
TAPER_TEMPLATE VI vi_up23(VI a)
{
    return _mm512_slli_epi32(a, 23);
}
TAPER_TEMPLATE VI vi_down23(VI a)
{
    return _mm512_srai_epi32(a, 23);
}
TAPER_TEMPLATE VI vi_up31(VI a)
{
    return _mm512_slli_epi32(a, 31);
}
TAPER_TEMPLATE VI vi_half(VI a)
{
    return _mm512_srai_epi32(a, 1);
}
TAPER_TEMPLATE VM v_less(V a, V b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
TAPER_TEMPLATE VM v_nan(V a)
{
    return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
}
TAPER_TEMPLATE V v_pick(VM m, V a, V b)
{
    return _mm512_mask_blend_ps(m, b, a);
}
TAPER_TEMPLATE float v_sum(V a)
{
    return _mm512_reduce_add_ps(a);
}
TAPER_TEMPLATE float v_most(V a)
{
    return _mm512_reduce_max_ps(a);
}
TAPER_TEMPLATE void v_transpose(V *v)
{
    __m512 t[16];
    // Interleaves pairs of rows: each quarter has the elements (row, column) 00 10 01 11, or 02 12 03 13.
    TAPER_UNROLL
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    // Combines pairs to four rows: quarter q of v[i + j] is column 4q + j of rows i to i + 3.
    TAPER_UNROLL
    for (int i = 0; i < 16; i += 4) {
        v[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        v[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xEE);
        v[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        v[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
    TAPER_UNROLL
    for (int j = 0; j < 4; j++) { // transposes the quarters
        const __m512 a = _mm512_shuffle_f32x4(v[j], v[j + 4], 0x44), b = _mm512_shuffle_f32x4(v[j], v[j + 4], 0xEE);
        const __m512 c = _mm512_shuffle_f32x4(v[j + 8], v[j + 12], 0x44),
                     d = _mm512_shuffle_f32x4(v[j + 8], v[j + 12], 0xEE);
        t[j] = _mm512_shuffle_f32x4(a, c, 0x88);
        t[j + 4] = _mm512_shuffle_f32x4(a, c, 0xDD);
        t[j + 8] = _mm512_shuffle_f32x4(b, d, 0x88);
        t[j + 12] = _mm512_shuffle_f32x4(b, d, 0xDD);
    }
    TAPER_UNROLL
    for (int i = 0; i < 16; i++)
        v[i] = t[i];
}
TAPER_TEMPLATE V v_even(V a, V b)
{
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b);
}
// Stores a[0] b[0] c[0] a[1] b[1] … as three vectors: lane i of the k-th vector is element (16k + i) / 3 of a, b or c.
TAPER_TEMPLATE void v_store3(float *p, V a, V b, V c)
{
    const __m512i at[3] = {_mm512_setr_epi32(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5),
                           _mm512_setr_epi32(5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10),
                           _mm512_setr_epi32(10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15)};
    static const __mmask16 from_b[3] = {0x2492, 0x9249, 0x4924}, from_c[3] = {0x4924, 0x2492, 0x9249};
    TAPER_UNROLL
    for (int k = 0; k < 3; k++) {
        V v = _mm512_permutexvar_ps(at[k], a);
        v = _mm512_mask_permutexvar_ps(v, from_b[k], at[k], b);
        v_store(p + 16 * k, _mm512_mask_permutexvar_ps(v, from_c[k], at[k], c));
    }
}
// clang-format on

#endif
