// SPDX-License-Identifier: BSD-2-Clause
// The functions of simd_scalar.h for arm64 NEON.
#ifndef TAPER_KERNELS_SIMD_NEON_H
#define TAPER_KERNELS_SIMD_NEON_H

#include <arm_neon.h>

#include "ops/kernels/simd_neon_common.h"

#define SIMD(name) name##_neon
#define SIMD_REGISTERS 32
#define SIMD_FUSED 1

TAPER_TEMPLATE V v_widen_fp16(const uint16_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
TAPER_TEMPLATE V v_div(V a, V b)
{
    return vdivq_f32(a, b);
}
TAPER_TEMPLATE V v_sqrt(V a)
{
    return vsqrtq_f32(a);
}
TAPER_TEMPLATE V v_fma(V a, V b, V c)
{
    return vfmaq_f32(c, a, b);
}
TAPER_TEMPLATE float v_sum(V a)
{
    return vaddvq_f32(a);
}
TAPER_TEMPLATE float v_most(V a)
{
    return vmaxvq_f32(a);
}
TAPER_TEMPLATE void v_transpose(V *v)
{
    // a has the elements (row, column) 00 20 01 21, and b has 02 22 03 23.
    const float32x4_t a = vzip1q_f32(v[0], v[2]), b = vzip2q_f32(v[0], v[2]);
    const float32x4_t c = vzip1q_f32(v[1], v[3]), d = vzip2q_f32(v[1], v[3]);
    v[0] = vzip1q_f32(a, c);
    v[1] = vzip2q_f32(a, c);
    v[2] = vzip1q_f32(b, d);
    v[3] = vzip2q_f32(b, d);
}
// A function that other instruction sets lack: it loads four vectors.
#define SIMD_TAKES_4
TAPER_TEMPLATE void v_take_4(const float **p, V *v) // loads four vectors and advances *p
{
    const float32x4x4_t x = vld1q_f32_x4(*p);
    *p += 16;
    __asm__("" : "+r"(*p)); // keeps compilers from addressing all pointers by one index, which takes five additions
    v[0] = x.val[0];
    v[1] = x.val[1];
    v[2] = x.val[2];
    v[3] = x.val[3];
}

#endif
