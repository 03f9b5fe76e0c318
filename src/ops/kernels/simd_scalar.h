// SPDX-License-Identifier: BSD-2-Clause
// The vector functions that the _tmpl.h files use, in plain C with one lane.
//
// A template is written with these functions. One file per instruction set includes it, after one of the simd_*.h.
//   V is a vector of VN floats, VI of VN 32-bit integers, VM the result of a comparison, VT selects the first n lanes
//   v_load_t and v_store_t access only the lanes of VT; v_load_t sets the others to 0
//   v_load_over is v_load_t, or loads SIMD_OVER_READ bytes more if masked loads are slow
//   v_min and v_max return the second operand if either is NaN (SIMD_MAX_KEEPS_NAN: return NaN)
//   v_fma(a, b, c) = a * b + c, rounded once if the machine can: SIMD_FUSED
#ifndef TAPER_KERNELS_SIMD_SCALAR_H
#define TAPER_KERNELS_SIMD_SCALAR_H

#include <string.h>

#include <math.h>

#include "base/half.h"
#include "ops/kernels/arch.h"

#define SIMD(name) name##_scalar
#define VN 1
#define SIMD_OVER_READ 0
#define SIMD_REGISTERS 16
#define SIMD_MAX_KEEPS_NAN 0
#define SIMD_FUSED 0

typedef float V;
typedef int32_t VI;
typedef int VM;
typedef size_t VT;

// clang-format off: a table
TAPER_TEMPLATE V v_load(const float *p)
{
    return *p;
}
// These functions load VN halves (bf16, fp16) as floats.
TAPER_TEMPLATE V v_widen_bf16(const uint16_t *p)
{
    return taper_bf16_to_float(*p);
}
TAPER_TEMPLATE V v_widen_fp16(const uint16_t *p)
{
    return taper_f16_to_float(*p);
}
TAPER_TEMPLATE void v_store(float *p, V x)
{
    *p = x;
}
TAPER_TEMPLATE VT v_first(size_t n)
{
    return n;
}
TAPER_TEMPLATE V v_load_t(const float *p, VT t)
{
    return t > 0 ? *p : 0.0f;
}
TAPER_TEMPLATE V v_load_over(const float *p, VT t)
{
    (void)t;
    return *p;
}
TAPER_TEMPLATE void v_store_t(float *p, V x, VT t)
{
    if (t > 0)
        *p = x;
}
TAPER_TEMPLATE V v_set(float x)
{
    return x;
}
TAPER_TEMPLATE V v_add(V a, V b)
{
    return a + b;
}
TAPER_TEMPLATE V v_sub(V a, V b)
{
    return a - b;
}
TAPER_TEMPLATE V v_mul(V a, V b)
{
    return a * b;
}
TAPER_TEMPLATE V v_div(V a, V b)
{
    return a / b;
}
TAPER_TEMPLATE V v_sqrt(V a)
{
    return sqrtf(a);
}
TAPER_TEMPLATE V v_fma(V a, V b, V c)
{
    return a * b + c;
}
TAPER_TEMPLATE V v_max(V a, V b)
{
    return a > b ? a : b;
}
TAPER_TEMPLATE V v_min(V a, V b)
{
    return a < b ? a : b;
}
TAPER_TEMPLATE VI v_bits(V a)
{
    VI i;
    memcpy(&i, &a, sizeof i);
    return i;
}
TAPER_TEMPLATE V v_of_bits(VI a)
{
    V x;
    memcpy(&x, &a, sizeof x);
    return x;
}
TAPER_TEMPLATE V v_abs(V a)
{
    return v_of_bits(v_bits(a) & 0x7FFFFFFF);
}
// Returns the magnitude of `a` with the sign of `b`.
TAPER_TEMPLATE V v_sign(V a, V b)
{
    return v_of_bits((v_bits(a) & 0x7FFFFFFF) | (v_bits(b) & (-0x7FFFFFFF - 1)));
}
TAPER_TEMPLATE VI vi_set(int32_t x)
{
    return x;
}
TAPER_TEMPLATE VI vi_add(VI a, VI b)
{
    return (VI)((uint32_t)a + (uint32_t)b);
}
TAPER_TEMPLATE VI vi_sub(VI a, VI b)
{
    return (VI)((uint32_t)a - (uint32_t)b);
}
TAPER_TEMPLATE VI vi_up23(VI a)
{
    return (VI)((uint32_t)a << 23);
} // shifts an integer into the exponent bits of a float
TAPER_TEMPLATE VI vi_down23(VI a)
{
    return a >= 0 ? a >> 23 : ~(~a >> 23);
} // shifts the exponent bits down; rounds towards minus infinity
TAPER_TEMPLATE VI vi_up31(VI a)
{
    return (VI)((uint32_t)a << 31);
} // shifts the lowest bit into the sign bit of a float
TAPER_TEMPLATE VI vi_half(VI a)
{
    return a >= 0 ? a / 2 : -((1 - a) / 2);
} // shifts right; rounds towards minus infinity
TAPER_TEMPLATE VM v_less(V a, V b)
{
    return a < b;
}
TAPER_TEMPLATE VM v_nan(V a)
{
    return a != a;
}
TAPER_TEMPLATE V v_pick(VM m, V a, V b)
{
    return m ? a : b;
} // returns m ? a : b
TAPER_TEMPLATE float v_sum(V a)
{
    return a;
}
TAPER_TEMPLATE float v_most(V a)
{
    return a;
}
// Transposes VN vectors.
TAPER_TEMPLATE void v_transpose(V *v)
{
    (void)v;
}
// Returns every second element of `a`, then every second element of `b`.
TAPER_TEMPLATE V v_even(V a, V b)
{
    (void)b;
    return a;
}
// Stores a[0] b[0] c[0] a[1] b[1] …: 3 * VN floats.
TAPER_TEMPLATE void v_store3(float *p, V a, V b, V c)
{
    p[0] = a;
    p[1] = b;
    p[2] = c;
}
// clang-format on

#endif
