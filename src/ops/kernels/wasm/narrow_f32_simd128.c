// SPDX-License-Identifier: BSD-2-Clause
// Products with narrow weights in SIMD of WebAssembly.
#include "ops/kernels/simd_simd128.h"

TAPER_TEMPLATE V v_bytes(const int8_t *p)
{
    const v128_t four = wasm_v128_load32_zero(p);
    return wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(four)));
}
TAPER_TEMPLATE VI v_words(const uint32_t *p)
{
    return wasm_v128_load(p);
}
TAPER_TEMPLATE V v_nibble(VI words, int i)
{
    const v128_t low = wasm_v128_and(wasm_u32x4_shr(words, (uint32_t)(4 * i)), wasm_i32x4_splat(15));
    return wasm_f32x4_sub(wasm_f32x4_convert_i32x4(low), wasm_f32x4_splat(8.0f));
}

#define HALF_ROWS 4
#include "ops/kernels/narrow_f32_tmpl.h"

NARROW_ENTRY(simd128, 8)
