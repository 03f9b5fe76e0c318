// SPDX-License-Identifier: BSD-2-Clause
// The loops of cast.h. CAST_ENTRY(instruction set) defines the entry. The including file is built with that set's
// flags.
#include "ops/kernels/cast.h"

#define CAST(from_dtype, to_dtype, x_type, y_type, value)                                                              \
    static void cast_##from_dtype##_##to_dtype(size_t n, const void *restrict from, void *restrict to)                 \
    {                                                                                                                  \
        const x_type *restrict x = from;                                                                               \
        y_type *restrict y = to;                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const x_type v = x[i];                                                                                     \
            y[i] = value;                                                                                              \
        }                                                                                                              \
    }
TAPER_CASTS(CAST)
#ifndef __F16C__
TAPER_CASTS_OF_HALVES(CAST)
#endif
#undef CAST

#ifdef __F16C__
// Instruction sets convert halves with one instruction, which needs an intrinsic in C.
#include <immintrin.h>

static void cast_F16_F32(size_t n, const void *restrict from, void *restrict to)
{
    const uint16_t *restrict x = from;
    float *restrict y = to;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
    }
    for (; i < n; i++) {
        y[i] = taper_f16_to_float(x[i]);
    }
}

static void cast_F32_F16(size_t n, const void *restrict from, void *restrict to)
{
    const float *restrict x = from;
    uint16_t *restrict y = to;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm_storeu_si128((__m128i *)(void *)(y + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    }
    for (; i < n; i++) {
        y[i] = taper_float_to_f16(x[i]);
    }
}
#endif

#define CAST(from, to, x_type, y_type, value) [TAPER_CAST_##from##_##to] = cast_##from##_##to,
#define CAST_ENTRY(isa)                                                                                                \
    const taper_cast_entry taper_cast_##isa = {                                                                        \
        .name = #isa, .cpu = TAPER_ISA_##isa, .casts = {TAPER_CASTS(CAST) TAPER_CASTS_OF_HALVES(CAST)}};
