// SPDX-License-Identifier: BSD-2-Clause
// The functions of simd_scalar.h that are equal for NEON with 64 and 32 bits. simd_neon.h and simd_neon32.h include
// this file.
#ifndef TAPER_KERNELS_SIMD_NEON_COMMON_H
#define TAPER_KERNELS_SIMD_NEON_COMMON_H

#include <arm_neon.h>

#include "ops/kernels/arch.h"

#define VN 4
#define SIMD_OVER_READ 12
#define SIMD_MAX_KEEPS_NAN 1

typedef float32x4_t V;
typedef int32x4_t VI;
typedef uint32x4_t VM;
typedef size_t VT;

// clang-format off: a table
TAPER_TEMPLATE V v_load(const float *p)
{
    return vld1q_f32(p);
}
TAPER_TEMPLATE V v_widen_bf16(const uint16_t *p)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
}
TAPER_TEMPLATE void v_store(float *p, V x)
{
    vst1q_f32(p, x);
}
TAPER_TEMPLATE VT v_first(size_t n)
{
    return n;
}
TAPER_TEMPLATE V v_load_t(const float *p, VT t)
{
    if (t >= 4)
        return vld1q_f32(p);
    V x = vdupq_n_f32(0.0f);
    if (t > 0)
        x = vld1q_lane_f32(p, x, 0);
    if (t > 1)
        x = vld1q_lane_f32(p + 1, x, 1);
    if (t > 2)
        x = vld1q_lane_f32(p + 2, x, 2);
    return x;
}
TAPER_TEMPLATE V v_load_over(const float *p, VT t)
{
    (void)t;
    return vld1q_f32(p);
}
TAPER_TEMPLATE void v_store_t(float *p, V x, VT t)
{
    if (t >= 4) {
        vst1q_f32(p, x);
        return;
    }
    if (t > 0)
        vst1q_lane_f32(p, x, 0);
    if (t > 1)
        vst1q_lane_f32(p + 1, x, 1);
    if (t > 2)
        vst1q_lane_f32(p + 2, x, 2);
}
TAPER_TEMPLATE V v_set(float x)
{
    return vdupq_n_f32(x);
}
TAPER_TEMPLATE V v_add(V a, V b)
{
    return vaddq_f32(a, b);
}
TAPER_TEMPLATE V v_sub(V a, V b)
{
    return vsubq_f32(a, b);
}
TAPER_TEMPLATE V v_mul(V a, V b)
{
    return vmulq_f32(a, b);
}
// A NaN in either operand gives NaN here. This satisfies the contract of v_min and v_max, because callers pass data as
// the second operand and constants as the first.
TAPER_TEMPLATE V v_max(V a, V b)
{
    return vmaxq_f32(a, b);
}
TAPER_TEMPLATE V v_min(V a, V b)
{
    return vminq_f32(a, b);
}
TAPER_TEMPLATE VI v_bits(V a)
{
    return vreinterpretq_s32_f32(a);
}
TAPER_TEMPLATE V v_of_bits(VI a)
{
    return vreinterpretq_f32_s32(a);
}
TAPER_TEMPLATE V v_abs(V a)
{
    return vabsq_f32(a);
}
TAPER_TEMPLATE V v_sign(V a, V b)
{
    return vbslq_f32(vdupq_n_u32(0x7FFFFFFF), a, b);
}
TAPER_TEMPLATE VI vi_set(int32_t x)
{
    return vdupq_n_s32(x);
}
TAPER_TEMPLATE VI vi_add(VI a, VI b)
{
    return vaddq_s32(a, b);
}
TAPER_TEMPLATE VI vi_sub(VI a, VI b)
{
    return vsubq_s32(a, b);
}
TAPER_TEMPLATE VI vi_up23(VI a)
{
    return vshlq_n_s32(a, 23);
}
TAPER_TEMPLATE VI vi_down23(VI a)
{
    return vshrq_n_s32(a, 23);
}
TAPER_TEMPLATE VI vi_up31(VI a)
{
    return vshlq_n_s32(a, 31);
}
TAPER_TEMPLATE VI vi_half(VI a)
{
    return vshrq_n_s32(a, 1);
}
TAPER_TEMPLATE VM v_less(V a, V b)
{
    return vcltq_f32(a, b);
}
TAPER_TEMPLATE VM v_nan(V a)
{
    return vmvnq_u32(vceqq_f32(a, a));
}
TAPER_TEMPLATE V v_pick(VM m, V a, V b)
{
    return vbslq_f32(m, a, b);
}
TAPER_TEMPLATE V v_even(V a, V b)
{
    return vuzpq_f32(a, b).val[0];
}
TAPER_TEMPLATE void v_store3(float *p, V a, V b, V c)
{
    const float32x4x3_t all = {{a, b, c}};
    vst3q_f32(p, all);
}
// clang-format on

#endif
