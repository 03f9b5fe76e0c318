// SPDX-License-Identifier: BSD-2-Clause
// The functions of simd_scalar.h for NEON of 32-bit ARM. This NEON has 16 registers, no division, and no sum across a
// vector. Its multiply-add rounds twice, exists on every processor with NEON, and accepts a lane as operand. Denormals
// count as zero.
#ifndef TAPER_KERNELS_SIMD_NEON32_H
#define TAPER_KERNELS_SIMD_NEON32_H

#include <arm_neon.h>
#include <math.h>

#include "base/half.h"
#include "ops/kernels/simd_neon_common.h"

#define SIMD(name) name##_neon32
#define SIMD_REGISTERS 16
#define SIMD_FUSED 0

TAPER_TEMPLATE V v_widen_fp16(const uint16_t *p)
{
    const float x[4] = {taper_f16_to_float(p[0]), taper_f16_to_float(p[1]), taper_f16_to_float(p[2]),
                        taper_f16_to_float(p[3])};
    return vld1q_f32(x);
}
TAPER_TEMPLATE V v_div(V a, V b)
{
    return a / b; // the compiler divides lane by lane
}
TAPER_TEMPLATE V v_sqrt(V a)
{
    float x[4];
    vst1q_f32(x, a);
    for (int i = 0; i < 4; i++)
        x[i] = sqrtf(x[i]);
    return vld1q_f32(x);
}
TAPER_TEMPLATE V v_fma(V a, V b, V c)
{
    return vmlaq_f32(c, a, b);
}
TAPER_TEMPLATE float v_sum(V a)
{
    const float32x2_t x = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(vpadd_f32(x, x), 0);
}
TAPER_TEMPLATE float v_most(V a)
{
    const float32x2_t x = vmax_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(vpmax_f32(x, x), 0);
}
TAPER_TEMPLATE void v_transpose(V *v)
{
    // a has the elements (row, column) 00 10 02 12, and 01 11 03 13.
    const float32x4x2_t a = vtrnq_f32(v[0], v[1]), b = vtrnq_f32(v[2], v[3]);
    v[0] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
    v[1] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
    v[2] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
    v[3] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
}

#endif
