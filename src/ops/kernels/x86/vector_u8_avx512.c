// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_u8.h with AVX-512.
#include <immintrin.h>

#include "ops/kernels/arch.h"

#define I8_VNNI 0
#define I8_BYTES 64

// Stores the lowest byte of each 32 bits.
TAPER_TEMPLATE void store_low_bytes(uint8_t *y, __m512i x)
{
    _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtepi32_epi8(x));
}

TAPER_TEMPLATE __m512i load_bytes(const uint8_t *x)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}

#include "ops/kernels/vector_u8_x86.h"

VECTOR_U8_ENTRY(avx512, NULL, interleave)
