// SPDX-License-Identifier: BSD-2-Clause
// The functions for narrow_f32_tmpl.h that are the same in NEON with 64 and 32 bits.
#ifndef TAPER_KERNELS_NARROW_WORDS_NEON_H
#define TAPER_KERNELS_NARROW_WORDS_NEON_H

#include <string.h>

// Reads only four bytes, because a load of a vector would read eight.
TAPER_TEMPLATE V v_bytes(const int8_t *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four))))));
}
TAPER_TEMPLATE VI v_words(const uint32_t *p)
{
    return vreinterpretq_s32_u32(vld1q_u32(p));
}
TAPER_TEMPLATE V v_nibble(VI words, int i)
{
    const uint32x4_t all = vshlq_u32(vreinterpretq_u32_s32(words), vdupq_n_s32(-4 * i));
    return vsubq_f32(vcvtq_f32_u32(vandq_u32(all, vdupq_n_u32(15))), vdupq_n_f32(8.0f));
}

#endif
