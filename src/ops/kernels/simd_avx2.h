// SPDX-License-Identifier: BSD-2-Clause
// The functions of simd_scalar.h for AVX2 with FMA.
#ifndef TAPER_KERNELS_SIMD_AVX2_H
#define TAPER_KERNELS_SIMD_AVX2_H

#include <immintrin.h>

#include "ops/kernels/arch.h"

#define SIMD(name) name##_avx2
#define VN 8
#define SIMD_OVER_READ 28
#define SIMD_REGISTERS 16
#define SIMD_MAX_KEEPS_NAN 0
#define SIMD_FUSED 1
#define SIMD_ROUNDS

typedef __m256 V;
typedef __m256i VI;
typedef __m256 VM;
typedef size_t VT;

// clang-format off: a table
TAPER_TEMPLATE V v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
TAPER_TEMPLATE V v_widen_bf16(const uint16_t *p)
{
    const __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}
TAPER_TEMPLATE V v_widen_fp16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}
TAPER_TEMPLATE void v_store(float *p, V x)
{
    _mm256_storeu_ps(p, x);
}
TAPER_TEMPLATE VT v_first(size_t n)
{
    return n;
}
TAPER_TEMPLATE __m256i v_lanes(VT t)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(t < 8 ? t : 8)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#include "ops/kernels/simd_tail_avx2.h"
TAPER_TEMPLATE V v_load_over(const float *p, VT t)
{
    (void)t;
    return _mm256_loadu_ps(p);
}
TAPER_TEMPLATE V v_set(float x)
{
    return _mm256_set1_ps(x);
}
TAPER_TEMPLATE V v_add(V a, V b)
{
    return _mm256_add_ps(a, b);
}
TAPER_TEMPLATE V v_sub(V a, V b)
{
    return _mm256_sub_ps(a, b);
}
TAPER_TEMPLATE V v_mul(V a, V b)
{
    return _mm256_mul_ps(a, b);
}
TAPER_TEMPLATE V v_div(V a, V b)
{
    return _mm256_div_ps(a, b);
}
TAPER_TEMPLATE V v_sqrt(V a)
{
    return _mm256_sqrt_ps(a);
}
TAPER_TEMPLATE V v_fma(V a, V b, V c)
{
    return _mm256_fmadd_ps(a, b, c);
}
TAPER_TEMPLATE V v_max(V a, V b)
{
    return _mm256_max_ps(a, b);
}
TAPER_TEMPLATE V v_min(V a, V b)
{
    return _mm256_min_ps(a, b);
}
TAPER_TEMPLATE VI v_bits(V a)
{
    return _mm256_castps_si256(a);
}
TAPER_TEMPLATE V v_of_bits(VI a)
{
    return _mm256_castsi256_ps(a);
}
TAPER_TEMPLATE V v_abs(V a)
{
    return _mm256_and_ps(a, v_of_bits(_mm256_set1_epi32(0x7FFFFFFF)));
}
TAPER_TEMPLATE V v_sign(V a, V b)
{
    const V magnitude = v_of_bits(_mm256_set1_epi32(0x7FFFFFFF));
    return _mm256_or_ps(_mm256_and_ps(magnitude, a), _mm256_andnot_ps(magnitude, b));
}
TAPER_TEMPLATE VI vi_set(int32_t x)
{
    return _mm256_set1_epi32(x);
}
TAPER_TEMPLATE VI vi_add(VI a, VI b)
{
    return _mm256_add_epi32(a, b);
}
TAPER_TEMPLATE VI vi_sub(VI a, VI b)
{
    return _mm256_sub_epi32(a, b);
}
TAPER_TEMPLATE VI vi_up23(VI a)
{
    return _mm256_slli_epi32(a, 23);
}
TAPER_TEMPLATE VI vi_down23(VI a)
{
    return _mm256_srai_epi32(a, 23);
}
TAPER_TEMPLATE VI vi_up31(VI a)
{
    return _mm256_slli_epi32(a, 31);
}
TAPER_TEMPLATE VI vi_half(VI a)
{
    return _mm256_srai_epi32(a, 1);
}
TAPER_TEMPLATE VM v_less(V a, V b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
TAPER_TEMPLATE VM v_nan(V a)
{
    return _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
}
TAPER_TEMPLATE V v_pick(VM m, V a, V b)
{
    return _mm256_blendv_ps(b, a, m);
}
TAPER_TEMPLATE V v_round(V x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
TAPER_TEMPLATE V v_floor(V x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
TAPER_TEMPLATE V v_ceil(V x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
TAPER_TEMPLATE V v_trunc(V x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
TAPER_TEMPLATE float v_sum(V a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
TAPER_TEMPLATE float v_most(V a)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
TAPER_TEMPLATE void v_transpose(V *v)
{
    __m256 t[8];
    // Interleaves pairs of rows: each half has the elements (row, column) 00 10 01 11, or 02 12 03 13.
    TAPER_UNROLL
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    TAPER_UNROLL
    for (int i = 0; i < 8; i += 4) { // combines two pairs of rows: each half then has one column of four rows
        v[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        v[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
        v[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        v[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
    TAPER_UNROLL
    for (int i = 0; i < 4; i++) {
        t[i] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x20);
        t[i + 4] = _mm256_permute2f128_ps(v[i], v[i + 4], 0x31);
    }
    TAPER_UNROLL
    for (int i = 0; i < 8; i++)
        v[i] = t[i];
}
TAPER_TEMPLATE V v_even(V a, V b)
{
    const __m256d mixed = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(mixed, 0xd8));
}
// Stores a[0] b[0] c[0] a[1] b[1] … as three vectors: lane i of the k-th vector is element (8k + i) / 3 of a, b or c.
TAPER_TEMPLATE void v_store3(float *p, V a, V b, V c)
{
    const __m256i first = _mm256_setr_epi32(0, 0, 0, 1, 1, 1, 2, 2), second = _mm256_setr_epi32(2, 3, 3, 3, 4, 4, 4, 5),
                  third = _mm256_setr_epi32(5, 5, 6, 6, 6, 7, 7, 7);
#define PICK(at, from_b, from_c)                                                                                       \
    _mm256_blend_ps(_mm256_blend_ps(_mm256_permutevar8x32_ps(a, at), _mm256_permutevar8x32_ps(b, at), from_b),         \
                    _mm256_permutevar8x32_ps(c, at), from_c)
    _mm256_storeu_ps(p, PICK(first, 0x92, 0x24));
    _mm256_storeu_ps(p + 8, PICK(second, 0x24, 0x49));
    _mm256_storeu_ps(p + 16, PICK(third, 0x49, 0x92));
#undef PICK
}
// clang-format on

#endif
