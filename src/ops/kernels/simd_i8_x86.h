// SPDX-License-Identifier: BSD-2-Clause
// The macros of the int8 kernels for x86; simd_i8_wasm.h has them for WebAssembly. The macros are made for one register
// width: I8_BYTES (16, 32 or 64) is defined before each inclusion, and the file may be included repeatedly. A name is
// I8(name). Q is a register of bytes, S one of 32-bit sums. S is a type of its own because Q has 64-bit elements, for
// which gcc would copy each sum around the dot product and run out of registers.
//
// I8(dot) adds four uint8 times four int8 to each 32 bits. With I8_VNNI it is the CPU's instruction. Otherwise it uses
// multiplications of 16 bits, which cannot overflow (pmaddubsw would saturate).
#include <immintrin.h>

#include "ops/kernels/arch.h"

#undef I8
#undef Q
#undef S
#undef F
#undef P
#undef B
#undef LANES
#if I8_BYTES == 64
#define I8(name) i8_512_##name
#define Q __m512i
#define S __v16si
#define F __m512
#define P(name) _mm512_##name
#define B(name) _mm512_##name##_si512
#elif I8_BYTES == 32
#define I8(name) i8_256_##name
#define Q __m256i
#define S __v8si
#define F __m256
#define P(name) _mm256_##name
#define B(name) _mm256_##name##_si256
#else
#define I8(name) i8_128_##name
#define Q __m128i
#define S __v4si
#define F __m128
#define P(name) _mm_##name
#define B(name) _mm_##name##_si128
#endif
#define LANES (I8_BYTES / 4) // number of lanes of 32 bits in a register

TAPER_TEMPLATE Q I8(load)(const void *p)
{
    return B(loadu)((const Q *)p);
}

// Loads four bytes and repeats them in every lane.
TAPER_TEMPLATE Q I8(four)(const uint8_t *p)
{
    int32_t x;
    __builtin_memcpy(&x, p, sizeof x);
    return P(set1_epi32)(x);
}

TAPER_TEMPLATE S I8(load_sums)(const int32_t *p)
{
    return (S)B(loadu)((const Q *)(const void *)p);
}

TAPER_TEMPLATE S I8(dot)(S sum, Q a, Q w)
{
#if I8_VNNI
    return (S)P(dpbusd_epi32)((Q)sum, a, w);
#else
    const Q even = P(madd_epi16)(B(and)(a, P(set1_epi32)(0x00FF00FF)), P(srai_epi16)(P(slli_epi16)(w, 8), 8));
    const Q odd = P(madd_epi16)(P(srli_epi16)(a, 8), P(srai_epi16)(w, 8));
    return (S)P(add_epi32)((Q)sum, P(add_epi32)(even, odd));
#endif
}

// Computes rne(sum * scale), see gemm_i8.h. scale is less than 1.
TAPER_TEMPLATE Q I8(scaled)(S sum, F scale)
{
    return P(cvtps_epi32)(P(mul_ps)(P(cvtepi32_ps)((Q)sum), scale));
}

// The parameters of requantization in addition to the scale.
typedef struct I8(range) {
    Q zero_point, low;
} I8(range);

TAPER_TEMPLATE I8(range) I8(range_of)(int32_t zero_point, int32_t min)
{
    return (I8(range)){P(set1_epi16)((int16_t)zero_point), P(set1_epi8)((char)min)};
}

// Narrows four registers of rne(sum * scale) to bytes. Each 128 bits have four bytes of r0, then of r1, of r2 and of
// r3.
TAPER_TEMPLATE Q I8(narrow)(Q r0, Q r1, Q r2, Q r3, I8(range) r)
{
    const Q a = P(adds_epi16)(P(packs_epi32)(r0, r1), r.zero_point);
    const Q b = P(adds_epi16)(P(packs_epi32)(r2, r3), r.zero_point);
    return P(max_epu8)(P(packus_epi16)(a, b), r.low);
}

// Returns x if it is at most limit, otherwise (also for NaN) other.
TAPER_TEMPLATE F I8(up_to)(F x, F limit, F other)
{
#if I8_BYTES == 64
    return _mm512_mask_mov_ps(other, _mm512_cmp_ps_mask(x, limit, _CMP_LE_OQ), x);
#else
    return P(blendv_ps)(other, x, P(cmp_ps)(x, limit, _CMP_LE_OQ));
#endif
}
