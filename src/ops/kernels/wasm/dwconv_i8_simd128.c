// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers with WebAssembly's vectors: 16 channels at a time.
#include <string.h>

#include "ops/kernels/dwconv_i8.h"
#include "ops/kernels/simd_i8_wasm.h"

#define I8_COLUMNS 0

TAPER_TEMPLATE void i8_128_store(uint8_t *to, v128_t y, size_t n)
{
    if (n == 16) {
        wasm_v128_store(to, y);
    } else {
        uint8_t bytes[16];
        wasm_v128_store(bytes, y);
        memcpy(to, bytes, n);
    }
}

#include "ops/kernels/dwconv_i8_tmpl.h"

TAPER_TEMPLATE void pixels(const size_t taps, const taper_dwconv_i8 *t)
{
    const i8_128_range range = i8_128_range_of(t->e.zero_point, t->e.min);
    uint8_t *to = t->c;
    for (size_t i = 0; i < t->pixels; i++, to += t->c_stride) {
        for (size_t c = 0; c < t->channels; c += 16)
            i8_128_piece(taps, t, i * t->step, c, t->channels - c < 16 ? t->channels - c : 16, range, to);
    }
}

void taper_dwconv_i8_simd128(const taper_dwconv_i8 *job)
{
    if (job->taps == 9) {
        pixels(9, job);
    } else {
        pixels(job->taps, job);
    }
}
