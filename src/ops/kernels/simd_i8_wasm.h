// SPDX-License-Identifier: BSD-2-Clause
// The macros of simd_i8_x86.h that gemm_i8_tmpl.h, dwconv_i8_tmpl.h and winograd_i8_pairs_tmpl.h use, for WebAssembly's
// 128-bit vectors.
#ifndef TAPER_KERNELS_SIMD_I8_WASM_H
#define TAPER_KERNELS_SIMD_I8_WASM_H

#include <wasm_simd128.h>

#include "ops/kernels/arch.h"

#define I8_BYTES 16
#define LANES 4
#define I8(name) i8_128_##name
#define P(name) wasm_words_##name
#define B(name) wasm_words_##name
#define Q v128_t
#define S v128_t
#define F v128_t
#define _mm_prefetch(address, hint) (void)0 // WebAssembly has no prefetch

// clang-format off: a table
TAPER_TEMPLATE Q B(setzero)(void)
{
    return wasm_i32x4_const_splat(0);
}
TAPER_TEMPLATE void B(storeu)(void *p, Q x)
{
    wasm_v128_store(p, x);
}
TAPER_TEMPLATE F P(loadu_ps)(const float *p)
{
    return wasm_v128_load(p);
}
TAPER_TEMPLATE F P(set1_ps)(float x)
{
    return wasm_f32x4_splat(x);
}
TAPER_TEMPLATE F P(add_ps)(F a, F b)
{
    return wasm_f32x4_add(a, b);
}
TAPER_TEMPLATE F P(mul_ps)(F a, F b)
{
    return wasm_f32x4_mul(a, b);
}
TAPER_TEMPLATE F P(max_ps)(F a, F b)
{
    return wasm_f32x4_pmax(b, a);
}
TAPER_TEMPLATE F P(cvtepi32_ps)(Q a)
{
    return wasm_f32x4_convert_i32x4(a);
}
TAPER_TEMPLATE Q P(add_epi32)(Q a, Q b)
{
    return wasm_i32x4_add(a, b);
}
TAPER_TEMPLATE Q P(unpacklo_epi8)(Q a, Q b)
{
    return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
TAPER_TEMPLATE Q P(unpackhi_epi8)(Q a, Q b)
{
    return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
TAPER_TEMPLATE Q P(unpacklo_epi16)(Q a, Q b)
{
    return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
TAPER_TEMPLATE Q P(unpackhi_epi16)(Q a, Q b)
{
    return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
TAPER_TEMPLATE Q I8(load)(const void *p)
{
    return wasm_v128_load(p);
}
TAPER_TEMPLATE Q I8(four)(const uint8_t *p)
{
    return wasm_v128_load32_splat(p);
}
TAPER_TEMPLATE S I8(load_sums)(const int32_t *p)
{
    return wasm_v128_load(p);
}
// Adds four products of bytes to each sum. Uses multiplications of 16 bits, which cannot overflow.
TAPER_TEMPLATE S I8(dot)(S sum, Q a, Q w)
{
    const Q even =
        wasm_i32x4_dot_i16x8(wasm_v128_and(a, wasm_i16x8_const_splat(0x00FF)), wasm_i16x8_shr(wasm_i16x8_shl(w, 8), 8));
    const Q odd = wasm_i32x4_dot_i16x8(wasm_u16x8_shr(a, 8), wasm_i16x8_shr(w, 8));
    return wasm_i32x4_add(sum, wasm_i32x4_add(even, odd));
}
// Computes rne(sum * scale), see gemm_i8.h.
TAPER_TEMPLATE Q I8(scaled)(S sum, F scale)
{
    return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum), scale)));
}

typedef struct I8(range) {
    Q zero_point, low;
} I8(range);

TAPER_TEMPLATE I8(range) I8(range_of)(int32_t zero_point, int32_t min)
{
    return (I8(range)){wasm_i16x8_splat((int16_t)zero_point), wasm_i8x16_splat((int8_t)min)};
}
// Narrows four registers to bytes: four bytes of r0, then of r1, of r2 and of r3.
TAPER_TEMPLATE Q I8(narrow)(Q r0, Q r1, Q r2, Q r3, I8(range) r)
{
    const Q a = wasm_i16x8_add_sat(wasm_i16x8_narrow_i32x4(r0, r1), r.zero_point);
    const Q b = wasm_i16x8_add_sat(wasm_i16x8_narrow_i32x4(r2, r3), r.zero_point);
    return wasm_u8x16_max(wasm_u8x16_narrow_i16x8(a, b), r.low);
}
// clang-format on

#endif
