// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with AVX2: 32 channels at a time, the last ones 32 or 16.
#include <string.h>

#include "ops/kernels/dwconv_i8.h"

#define I8_COLUMNS 0
#define I8_VNNI 0
#define I8_BYTES 16
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_128_store(uint8_t *to, __m128i y, size_t n)
{
    if (n == 16) {
        _mm_storeu_si128((__m128i *)(void *)to, y);
    } else {
        uint8_t bytes[16];
        _mm_storeu_si128((__m128i *)(void *)bytes, y);
        memcpy(to, bytes, n);
    }
}
#include "ops/kernels/x86/dwconv_i8_words_avx2.h"

#include "ops/kernels/dwconv_i8_tmpl.h"

#undef I8_BYTES
#define I8_BYTES 32
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_256_store(uint8_t *to, __m256i y, size_t n)
{
    if (n == 32) {
        _mm256_storeu_si256((__m256i *)(void *)to, y);
    } else {
        uint8_t bytes[32];
        _mm256_storeu_si256((__m256i *)(void *)bytes, y);
        memcpy(to, bytes, n);
    }
}
#include "ops/kernels/x86/dwconv_i8_words_avx2.h"

#include "ops/kernels/dwconv_i8_tmpl.h"

TAPER_TEMPLATE void pixels(const size_t taps, const taper_dwconv_i8 *t)
{
    const i8_256_range r256 = i8_256_range_of(t->e.zero_point, t->e.min);
    const i8_128_range r128 = i8_128_range_of(t->e.zero_point, t->e.min);
    uint8_t *to = t->c;
    for (size_t i = 0; i < t->pixels; i++, to += t->c_stride) {
        const size_t at = i * t->step;
        size_t c = 0, n = t->channels;
        for (; n > 16; c += 32, n -= n < 32 ? n : 32)
            i8_256_piece(taps, t, at, c, n < 32 ? n : 32, r256, to);
        if (n > 0)
            i8_128_piece(taps, t, at, c, n, r128, to);
    }
}

void taper_dwconv_i8_avx2(const taper_dwconv_i8 *job)
{
    if (job->taps == 9) {
        pixels(9, job);
    } else {
        pixels(job->taps, job);
    }
}
