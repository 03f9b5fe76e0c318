// SPDX-License-Identifier: BSD-2-Clause
// What is done to quantized numbers element by element: sums of two tensors, quantizing, dequantizing, maxima. Every
// entry gives the same bits. Nothing is read or written outside what the sizes name. y may be an input.
#ifndef TAPER_KERNELS_VECTOR_U8_H
#define TAPER_KERNELS_VECTOR_U8_H

#include "ops/kernels/arch.h"

// y = clamp(round((a * a_factor + b * b_factor + offset) / 2^shift) + zero_point), as QNNPACK adds: products and sum
// fit 32 bits, the division rounds halves away from zero, the zero point is added with saturation to 16 bits.
typedef struct taper_u8_sum {
    int32_t a_factor, b_factor; // 0 .. 2^22
    int32_t offset;
    uint32_t shift; // 1 .. 31
    int32_t zero_point, min, max;
} taper_u8_sum;

// y = max(sat16(rne((a - a_point) * (b - b_point) * multiplier)) + zero_point, min) within [0, 255]. The scaled product
// fits 32 bits.
typedef struct taper_u8_product {
    float multiplier; // 0 .. TAPER_U8_MULTIPLIER
    int32_t a_point, b_point, zero_point, min;
} taper_u8_product;

#define TAPER_U8_MULTIPLIER 16384.0f
#define TAPER_U8_TOO_MUCH 9.2e18f // scaled numbers above quantize to 0

typedef struct taper_vector_u8_entry {
    const char *name;
    uint64_t cpu;
    void (*add)(size_t n, const uint8_t *a, const uint8_t *b, const taper_u8_sum *p, uint8_t *y);
    // b_step 1, or 0: one b for all of a.
    void (*multiply)(size_t n, const uint8_t *a, const uint8_t *b, size_t b_step, const taper_u8_product *p,
                     uint8_t *y);
    // y = clamp(rne(x * inverse) + zero_point) within [0, 255]; NaN and what no 64-bit integer holds give 0, as in
    // PyTorch.
    void (*quantize)(size_t n, const float *x, float inverse, int32_t zero_point, uint8_t *y);
    // y = scale * (x - zero_point)
    void (*dequantize)(size_t n, const uint8_t *x, float scale, int32_t zero_point, float *y);
    // Linear interpolation as PyTorch's loops over channels do it, in floats; of the products they add in one rounding,
    // the first 8 k channels take the second, the others the first.
    // to[i][c] = w[2 i] * taps[2 i][c] + w[2 i + 1] * taps[2 i + 1][c]
    void (*stretch)(size_t pixels, size_t channels, const uint8_t *const *taps, const float *w, float *to);
    // y[i][c] = rne(w[0] * a[i][c] + w[1] * b[i][c] - zero_point) + zero_point within [0, 255]
    void (*blend)(size_t pixels, size_t channels, const float *a, const float *b, const float *w, int32_t zero_point,
                  uint8_t *y, size_t y_stride);
    // The least and the greatest of x and 0; both NaN when an x is.
    void (*range)(size_t n, const float *x, float *min, float *max);
    // y[i] = table[x[i]], table of 256; NULL: nothing faster than one by one
    void (*translate)(size_t n, const uint8_t *table, const uint8_t *x, uint8_t *y);
    // y[4 i + k] = planes[k][i], y none of them; NULL: nothing faster than what compilers make of a loop
    void (*interleave)(size_t n, const uint8_t *const planes[4], uint8_t *y);
    // y[i][c] = the most over taps of a[tap * a_tap_stride + i][c], m pixels of `count` channels
    void (*max_pool)(size_t m, size_t count, size_t taps, const uint8_t *const *a, size_t a_tap_stride, uint8_t *y,
                     size_t y_stride);
} taper_vector_u8_entry;

#define KERNEL(isa) extern const taper_vector_u8_entry taper_vector_u8_##isa;
#include "ops/kernels/vector_u8_list.inc"
#undef KERNEL

// The members of an entry, for the file that has them all as static functions.
#define VECTOR_U8_ENTRY(isa, translate, interleave)                                                                    \
    const taper_vector_u8_entry taper_vector_u8_##isa = {#isa,     TAPER_ISA_##isa, add,        multiply,              \
                                                         quantize, dequantize,      stretch,    blend,                 \
                                                         range,    translate,       interleave, max_pool};

#endif
