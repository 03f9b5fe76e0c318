// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with AVX-512 VNNI: 64 channels at a time, the last ones 64, 32 or 16.
#include <string.h>

#include "ops/kernels/dwconv_i8.h"

#define I8_COLUMNS TAPER_DWCONV_I8_COLUMNS
#define I8_VNNI 1
#define I8_BYTES 16
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_128_store(uint8_t *to, __m128i y, size_t n)
{
    _mm_mask_storeu_epi8(to, (__mmask16)((UINT32_C(1) << n) - 1), y);
}
#include "ops/kernels/dwconv_i8_tmpl.h"

#undef I8_BYTES
#define I8_BYTES 32
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_256_store(uint8_t *to, __m256i y, size_t n)
{
    _mm256_mask_storeu_epi8(to, (__mmask32)((UINT64_C(1) << n) - 1), y);
}
#include "ops/kernels/dwconv_i8_tmpl.h"

#undef I8_BYTES
#define I8_BYTES 64
#include "ops/kernels/simd_i8_x86.h"
TAPER_TEMPLATE void i8_512_store(uint8_t *to, __m512i y, size_t n)
{
    if (n == 64) {
        _mm512_storeu_si512(to, y);
    } else {
        _mm512_mask_storeu_epi8(to, (UINT64_C(1) << n) - 1, y);
    }
}
#include "ops/kernels/dwconv_i8_tmpl.h"

// Computes all channels of a run of pixels, one pixel at a time. In 3x3 kernels a dot product adds the taps of a
// column, because the weights are packed by columns.
TAPER_TEMPLATE void pixels(const size_t taps, const taper_dwconv_i8 *t)
{
    const i8_512_range r512 = i8_512_range_of(t->e.zero_point, t->e.min);
    const i8_256_range r256 = i8_256_range_of(t->e.zero_point, t->e.min);
    const i8_128_range r128 = i8_128_range_of(t->e.zero_point, t->e.min);
    uint8_t *to = t->c;
    for (size_t i = 0; i < t->pixels; i++, to += t->c_stride) {
        const size_t at = i * t->step;
        size_t c = 0, n = t->channels;
        for (; n > 32; c += 64, n -= n < 64 ? n : 64)
            i8_512_piece(taps, t, at, c, n < 64 ? n : 64, r512, to);
        if (n > 16) {
            i8_256_piece(taps, t, at, c, n, r256, to);
        } else if (n > 0) {
            i8_128_piece(taps, t, at, c, n, r128, to);
        }
    }
}

#include "ops/kernels/x86/dwconv_i8_3x3_avx512.h"

void taper_dwconv_i8_avx512vnni(const taper_dwconv_i8 *job)
{
    if (job->rows > 1 || job->columns) {
        by_columns(job);
        return;
    }
    if (job->taps == 9) {
        pixels(9, job);
    } else {
        pixels(job->taps, job);
    }
}
