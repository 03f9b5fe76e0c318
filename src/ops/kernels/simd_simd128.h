// SPDX-License-Identifier: BSD-2-Clause
// The functions of simd_scalar.h for WebAssembly's 128-bit vectors.
#ifndef TAPER_KERNELS_SIMD_SIMD128_H
#define TAPER_KERNELS_SIMD_SIMD128_H

#include <wasm_simd128.h>

#include "base/half.h"
#include "ops/kernels/arch.h"

#define SIMD(name) name##_simd128
#define VN 4
#define SIMD_OVER_READ 12
#define SIMD_REGISTERS 16
#define SIMD_FUSED 0
#define SIMD_MAX_KEEPS_NAN 0

typedef v128_t V;
typedef v128_t VI;
typedef v128_t VM;
typedef size_t VT;

// clang-format off: a table
TAPER_TEMPLATE V v_load(const float *p)
{
    return wasm_v128_load(p);
}
TAPER_TEMPLATE V v_widen_bf16(const uint16_t *p)
{
    return wasm_i32x4_shl(wasm_u32x4_load16x4(p), 16);
}
TAPER_TEMPLATE V v_widen_fp16(const uint16_t *p)
{
    return wasm_f32x4_make(taper_f16_to_float(p[0]), taper_f16_to_float(p[1]), taper_f16_to_float(p[2]),
                           taper_f16_to_float(p[3]));
}
TAPER_TEMPLATE void v_store(float *p, V x)
{
    wasm_v128_store(p, x);
}
TAPER_TEMPLATE VT v_first(size_t n)
{
    return n;
}
TAPER_TEMPLATE V v_load_t(const float *p, VT t)
{
    if (t >= 4)
        return wasm_v128_load(p);
    V x = wasm_f32x4_const_splat(0);
    if (t > 0)
        x = wasm_v128_load32_lane(p, x, 0);
    if (t > 1)
        x = wasm_v128_load32_lane(p + 1, x, 1);
    if (t > 2)
        x = wasm_v128_load32_lane(p + 2, x, 2);
    return x;
}
TAPER_TEMPLATE V v_load_over(const float *p, VT t)
{
    (void)t;
    return wasm_v128_load(p);
}
TAPER_TEMPLATE void v_store_t(float *p, V x, VT t)
{
    if (t >= 4) {
        wasm_v128_store(p, x);
        return;
    }
    if (t > 0)
        wasm_v128_store32_lane(p, x, 0);
    if (t > 1)
        wasm_v128_store32_lane(p + 1, x, 1);
    if (t > 2)
        wasm_v128_store32_lane(p + 2, x, 2);
}
TAPER_TEMPLATE V v_set(float x)
{
    return wasm_f32x4_splat(x);
}
TAPER_TEMPLATE V v_add(V a, V b)
{
    return wasm_f32x4_add(a, b);
}
TAPER_TEMPLATE V v_sub(V a, V b)
{
    return wasm_f32x4_sub(a, b);
}
TAPER_TEMPLATE V v_mul(V a, V b)
{
    return wasm_f32x4_mul(a, b);
}
TAPER_TEMPLATE V v_div(V a, V b)
{
    return wasm_f32x4_div(a, b);
}
TAPER_TEMPLATE V v_sqrt(V a)
{
    return wasm_f32x4_sqrt(a);
}
TAPER_TEMPLATE V v_fma(V a, V b, V c)
{
    return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
}
// The instruction is a comparison, such as b < a ? b : a for the minimum of a and b, so with NaN it returns its first
// operand. With exchanged operands the instruction has the contract of these functions.
TAPER_TEMPLATE V v_max(V a, V b)
{
    return wasm_f32x4_pmax(b, a);
}
TAPER_TEMPLATE V v_min(V a, V b)
{
    return wasm_f32x4_pmin(b, a);
}
TAPER_TEMPLATE VI v_bits(V a)
{
    return a;
}
TAPER_TEMPLATE V v_of_bits(VI a)
{
    return a;
}
TAPER_TEMPLATE V v_abs(V a)
{
    return wasm_f32x4_abs(a);
}
TAPER_TEMPLATE V v_sign(V a, V b)
{
    return wasm_v128_bitselect(a, b, wasm_i32x4_const_splat(0x7FFFFFFF));
}
TAPER_TEMPLATE VI vi_set(int32_t x)
{
    return wasm_i32x4_splat(x);
}
TAPER_TEMPLATE VI vi_add(VI a, VI b)
{
    return wasm_i32x4_add(a, b);
}
TAPER_TEMPLATE VI vi_sub(VI a, VI b)
{
    return wasm_i32x4_sub(a, b);
}
TAPER_TEMPLATE VI vi_up23(VI a)
{
    return wasm_i32x4_shl(a, 23);
}
TAPER_TEMPLATE VI vi_down23(VI a)
{
    return wasm_i32x4_shr(a, 23);
}
TAPER_TEMPLATE VI vi_up31(VI a)
{
    return wasm_i32x4_shl(a, 31);
}
TAPER_TEMPLATE VI vi_half(VI a)
{
    return wasm_i32x4_shr(a, 1);
}
TAPER_TEMPLATE VM v_less(V a, V b)
{
    return wasm_f32x4_lt(a, b);
}
TAPER_TEMPLATE VM v_nan(V a)
{
    return wasm_f32x4_ne(a, a);
}
TAPER_TEMPLATE V v_pick(VM m, V a, V b)
{
    return wasm_v128_bitselect(a, b, m);
}
TAPER_TEMPLATE float v_sum(V a)
{
    const V x = wasm_f32x4_add(a, wasm_i32x4_shuffle(a, a, 2, 3, 0, 1));
    return wasm_f32x4_extract_lane(x, 0) + wasm_f32x4_extract_lane(x, 1);
}
TAPER_TEMPLATE float v_most(V a)
{
    const V x = wasm_f32x4_pmax(a, wasm_i32x4_shuffle(a, a, 2, 3, 0, 1));
    return wasm_f32x4_extract_lane(wasm_f32x4_pmax(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2)), 0);
}
TAPER_TEMPLATE void v_transpose(V *v)
{
    const V a = wasm_i32x4_shuffle(v[0], v[2], 0, 4, 1, 5), b = wasm_i32x4_shuffle(v[0], v[2], 2, 6, 3, 7);
    const V c = wasm_i32x4_shuffle(v[1], v[3], 0, 4, 1, 5), d = wasm_i32x4_shuffle(v[1], v[3], 2, 6, 3, 7);
    v[0] = wasm_i32x4_shuffle(a, c, 0, 4, 1, 5);
    v[1] = wasm_i32x4_shuffle(a, c, 2, 6, 3, 7);
    v[2] = wasm_i32x4_shuffle(b, d, 0, 4, 1, 5);
    v[3] = wasm_i32x4_shuffle(b, d, 2, 6, 3, 7);
}
TAPER_TEMPLATE V v_even(V a, V b)
{
    return wasm_i32x4_shuffle(a, b, 0, 2, 4, 6);
}
TAPER_TEMPLATE void v_store3(float *p, V a, V b, V c)
{
    const V ab = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5),
            ca = wasm_i32x4_shuffle(c, a, 0, 4, 1, 5); // ab has the elements a0 b0 a1 b1, and ca has c0 . . a1
    const V bc = wasm_i32x4_shuffle(b, c, 1, 5, 2, 6); // the elements b1 c1 b2 c2
    wasm_v128_store(p, wasm_i32x4_shuffle(ab, ca, 0, 1, 4, 7));
    wasm_v128_store(p + 4, wasm_i32x4_shuffle(bc, wasm_i32x4_shuffle(a, b, 2, 6, 3, 7), 0, 1, 4, 5));
    wasm_v128_store(p + 8, wasm_i32x4_shuffle(wasm_i32x4_shuffle(c, a, 2, 7, 3, 3),
                                              wasm_i32x4_shuffle(b, c, 3, 7, 3, 7), 0, 1, 4, 5));
}
// clang-format on

#endif
