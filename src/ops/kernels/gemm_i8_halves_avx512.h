// SPDX-License-Identifier: BSD-2-Clause
// The sums of eight columns of two rows in one vector, for the gemm of bytes with AVX-512.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H
#define TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H

#define HALVES
// Loads eight sums into the lower and the upper half of a vector.
TAPER_TEMPLATE __v16si i8_512_twice_sums(const int32_t *p)
{
    return (__v16si)_mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
TAPER_TEMPLATE __m512 i8_512_twice_scales(const float *p)
{
    return _mm512_broadcast_f32x8(_mm256_loadu_ps(p));
}
TAPER_TEMPLATE __m512i i8_512_twice(const void *p)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p));
}
// Returns the lower half of `a` with the upper half of `b`.
TAPER_TEMPLATE __m512i i8_512_halves(__m512i a, __m512i b)
{
    return _mm512_mask_blend_epi32(0xFF00, a, b);
}

// Stores 16 bytes of each of `rows` rows, and n more bytes of each row. Each 128 bits of y contain 32 bits of each of
// four rows. `half` contains rows 0 and 2 in its first 256 bits, and rows 1 and 3 in the other bits.
TAPER_TEMPLATE void store_halves(const size_t rows, uint8_t *c, size_t c_stride, __m512i y, __m512i half, size_t n)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i by_rows = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 0, 0, 0, 0, 0, 0, 0, 0);
    const __mmask16 mask = (__mmask16)((UINT32_C(1) << n) - 1);
    __m128i x[4], h[4];
    y = _mm512_permutexvar_epi32(order, y);
    half = _mm512_permutexvar_epi32(by_rows, half);
    x[0] = _mm512_castsi512_si128(y);
    x[1] = _mm512_extracti32x4_epi32(y, 1);
    x[2] = _mm512_extracti32x4_epi32(y, 2);
    x[3] = _mm512_extracti32x4_epi32(y, 3);
    h[0] = _mm512_castsi512_si128(half);
    h[1] = _mm_unpackhi_epi64(h[0], h[0]);
    h[2] = _mm512_extracti32x4_epi32(half, 1);
    h[3] = _mm_unpackhi_epi64(h[2], h[2]);
    TAPER_UNROLL
    for (size_t i = 0; i < rows; i++) {
        _mm_storeu_si128((__m128i *)(void *)(c + i * c_stride), x[i]);
        _mm_mask_storeu_epi8(c + i * c_stride + 16, mask, h[i]);
    }
}

#endif
