// SPDX-License-Identifier: BSD-2-Clause
// Elementwise kernels on quantized numbers: sums of two tensors, quantizing, dequantizing, maxima. Every entry gives
// the same bits. Only the elements that the arguments name are read or written. y may be an input.
#ifndef TAPER_KERNELS_VECTOR_U8_H
#define TAPER_KERNELS_VECTOR_U8_H

#include "ops/kernels/arch.h"

// The parameters of y = clamp(round((a * a_factor + b * b_factor + offset) / 2^shift) + zero_point), as QNNPACK adds.
// The products and the sum fit into 32 bits. The division rounds halves away from zero. Adding the zero point saturates
// to 16 bits.
typedef struct taper_u8_sum {
    int32_t a_factor, b_factor; // factors, from 0 to 2^22
    int32_t offset;
    uint32_t shift; // number of bits of the shift to the right, from 1 to 31
    int32_t zero_point, min, max;
} taper_u8_sum;

// The parameters of y = max(sat16(rne((a - a_point) * (b - b_point) * multiplier)) + zero_point, min), clamped to [0,
// 255]. rne rounds to the nearest integer, and a half to the even one; sat16 saturates to 16 bits. The scaled product
// fits into 32 bits.
typedef struct taper_u8_product {
    float multiplier; // factor from 0 to TAPER_U8_MULTIPLIER
    int32_t a_point, b_point, zero_point, min;
} taper_u8_product;

#define TAPER_U8_MULTIPLIER 16384.0f
#define TAPER_U8_TOO_MUCH 9.2e18f // scaled numbers above this quantize to 0

typedef struct taper_vector_u8_entry {
    const char *name;
    uint64_t cpu;
    void (*add)(size_t n, const uint8_t *a, const uint8_t *b, const taper_u8_sum *p, uint8_t *y);
    // Computes products. b_step is 1, or 0 if one element of `b` is used for all elements of `a`.
    void (*multiply)(size_t n, const uint8_t *a, const uint8_t *b, size_t b_step, const taper_u8_product *p,
                     uint8_t *y);
    // Computes y = clamp(rne(x * inverse) + zero_point), within [0, 255]. NaN and numbers that do not fit into 64 bits
    // give 0, as in PyTorch.
    void (*quantize)(size_t n, const float *x, float inverse, int32_t zero_point, uint8_t *y);
    // Computes y = scale * (x - zero_point).
    void (*dequantize)(size_t n, const uint8_t *x, float scale, int32_t zero_point, float *y);
    // Computes to[i][c] = w[2 i] * taps[2 i][c] + w[2 i + 1] * taps[2 i + 1][c] in floats, as PyTorch's loops over
    // channels do. These loops fuse one product with the addition: the fused product is the second one for the first
    // channels, up to a multiple of 8, and the first one for the other channels.
    void (*stretch)(size_t pixels, size_t channels, const uint8_t *const *taps, const float *w, float *to);
    // Computes y[i][c] = rne(w[0] * a[i][c] + w[1] * b[i][c] - zero_point) + zero_point, within [0, 255].
    void (*blend)(size_t pixels, size_t channels, const float *a, const float *b, const float *w, int32_t zero_point,
                  uint8_t *y, size_t y_stride);
    // Finds the smallest and the largest number among 0 and the elements of x. Both results are NaN if an element is
    // NaN.
    void (*range)(size_t n, const float *x, float *min, float *max);
    // Computes y[i] = table[x[i]] with a table of 256 entries. NULL if it is not faster than a loop.
    void (*translate)(size_t n, const uint8_t *table, const uint8_t *x, uint8_t *y);
    // Computes y[4 i + k] = planes[k][i]. y must not be one of the planes. NULL if it is not faster than a compiled
    // loop.
    void (*interleave)(size_t n, const uint8_t *const planes[4], uint8_t *y);
    // Computes y[i][c], the maximum over taps of a[tap * a_tap_stride + i][c], for m pixels of `count` channels.
    void (*max_pool)(size_t m, size_t count, size_t taps, const uint8_t *const *a, size_t a_tap_stride, uint8_t *y,
                     size_t y_stride);
} taper_vector_u8_entry;

#define KERNEL(isa) extern const taper_vector_u8_entry taper_vector_u8_##isa;
#include "ops/kernels/vector_u8_list.inc"
#undef KERNEL

// Lists the members of an entry, for a file that has all of them as static functions.
#define VECTOR_U8_ENTRY(isa, translate, interleave)                                                                    \
    const taper_vector_u8_entry taper_vector_u8_##isa = {#isa,     TAPER_ISA_##isa, add,        multiply,              \
                                                         quantize, dequantize,      stretch,    blend,                 \
                                                         range,    translate,       interleave, max_pool};

#endif
