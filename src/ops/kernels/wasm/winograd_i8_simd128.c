// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms of quantized numbers with WebAssembly's vectors: products of 4 tiles by 8 columns.
#include "ops/kernels/simd_i8_wasm.h"
#include "ops/kernels/winograd_i8.h"

#define MR_MAX 4
#define EACH_MR(X) X(1) X(2) X(3) X(4)
#define W Q
#define W_LANES 8
#define N Q
#define N_LANES LANES
#define NR (2 * LANES)
#define LIMITS I8(range)

#define w_widen(p) wasm_u16x8_load8x8(p)
#define w_widen_signed(p) wasm_i16x8_load8x8(p)
#define w_store(p, x) wasm_v128_store(p, x)
#define w_set(x) wasm_i16x8_splat(x)
#define w_add(a, b) wasm_i16x8_add(a, b)
#define w_sub(a, b) wasm_i16x8_sub(a, b)
#define w_shl(a, by) wasm_i16x8_shl(a, by)
#define n_load(p) wasm_v128_load(p)
#define n_set(x) wasm_i32x4_splat(x)
#define n_add(a, b) wasm_i32x4_add(a, b)
#define n_sub(a, b) wasm_i32x4_sub(a, b)
#define n_shl(a, by) wasm_i32x4_shl(a, by)
#define n_sra(a, by) wasm_i32x4_shr(a, by)
#define n_mul(a, b) wasm_i32x4_mul(a, b)
#define limits_of(e) I8(range_of)((e)->zero_point, (e)->min)

TAPER_TEMPLATE void store_row(uint8_t *to, size_t pixel, size_t pixels, const N *sums, const float *scales,
                              LIMITS limits)
{
    const F scale = P(loadu_ps)(scales);
    Q r[4];
    TAPER_UNROLL
    for (size_t j = 0; j < 4; j++)
        r[j] = I8(scaled)(sums[j], scale);
    const Q y = I8(narrow)(r[0], r[1], r[2], r[3], limits);
    wasm_v128_store32_lane(to, y, 0);
    if (pixels > 1)
        wasm_v128_store32_lane(to + pixel, y, 1);
    if (pixels > 2)
        wasm_v128_store32_lane(to + 2 * pixel, y, 2);
    if (pixels > 3)
        wasm_v128_store32_lane(to + 3 * pixel, y, 3);
}

#include "ops/kernels/winograd_i8_tmpl.h"

TAPER_TEMPLATE S dot_words(S sum, Q a, Q w)
{
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, w));
}

#include "ops/kernels/winograd_i8_pairs_tmpl.h"

WINOGRAD_I8(simd128)
WINOGRAD_I8_PRODUCT(simd128)
