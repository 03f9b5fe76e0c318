// SPDX-License-Identifier: BSD-2-Clause
// Converts IEEE half and bfloat16 to and from float. Rounding is to nearest even.
#ifndef TAPER_BASE_HALF_H
#define TAPER_BASE_HALF_H

#include <stdint.h>
#include <string.h>

#include <taper/taper.h>

// The precisions of taper.h under the lower-case names that the lists of kernels use.
#define TAPER_PRECISION_fp32 TAPER_PRECISION_FP32
#define TAPER_PRECISION_fp16 TAPER_PRECISION_FP16
#define TAPER_PRECISION_bf16 TAPER_PRECISION_BF16

inline float taper_bits_to_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

inline uint32_t taper_float_to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float taper_bf16_to_float(uint16_t h)
{
    return taper_bits_to_float((uint32_t)h << 16);
}

inline uint16_t taper_float_to_bf16(float f)
{
    const uint32_t bits = taper_float_to_bits(f);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fc0;
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float taper_f16_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    const uint32_t fraction = h & 0x3ffu;
    if (exponent == 0x1fu) {
        return taper_bits_to_float(sign | 0x7f800000u | fraction << 13);
    }
    if (exponent != 0) {
        return taper_bits_to_float(sign | (exponent + 112u) << 23 | fraction << 13);
    }
    const float magnitude = (float)fraction * 5.9604644775390625e-8f; // 2^-24
    return taper_bits_to_float(sign | taper_float_to_bits(magnitude));
}

inline uint16_t taper_float_to_f16(float f)
{
    const uint32_t bits = taper_float_to_bits(f);
    const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (magnitude >= 0x477ff000u) { // rounds to infinity
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < 0x38800000u) { // subnormal: the addition of 0.5 aligns and rounds the fraction
        const float shifted = taper_bits_to_float(magnitude) + 0.5f;
        return (uint16_t)(sign | (taper_float_to_bits(shifted) - 0x3f000000u));
    }
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));
}

#endif
