// SPDX-License-Identifier: BSD-2-Clause
// Winograd's F(4x4, 3x3) for convolutions of quantized NHWC numbers with stride 1: 36 products of 16 bits instead of
// 144 of 8 bits. The method is exact: gemm_i8.h gives the same sums.
//
// With the points 0, +-1, +-2 and infinity all transforms have integers, if the weights' denominators are left out.
// The denominators are 4, -6, -6, 24, 24, 1 for each position's row and column. The transform of the outputs multiplies
// its lines by 24 divided by the denominator instead. Then
// - inputs x - z, where x and z are bytes, become at most 100 * 255, and weights at most 49 * 128, so 16 bits are
//   enough.
// - a tile's result is 576 times the sum, modulo 2^32. 576 is 64 * 9, and 9 has an inverse modulo 2^32, which leaves 64
//   times the sum, and so the sum modulo 2^26. A sum is in a range of 255 times the sum of its weights' magnitudes,
//   around a known middle (taper_winograd_i8_middle). A channel whose range is less than 2^26 is exact
//   (taper_winograd_i8_holds). This is true for up to 228 inputs with any weights.
//
// How an operator uses it
// - Once: taper_winograd_i8_pack packs the weights.
// - A tile is the inputs x[6 * i + j] of 4x4 results, at any addresses: a convolution with dilation d consists of d x d
//   convolutions without a dilation, each of every d-th row and column. Missing inputs are pointers to `channels` bytes
//   of the zero point.
// - It calls input() for each tile, product() for every position with at most mr tiles at a time, and output() for each
//   tile.
#ifndef TAPER_KERNELS_WINOGRAD_I8_H
#define TAPER_KERNELS_WINOGRAD_I8_H

#include <stdbool.h>

#include "ops/kernels/gemm_i8.h"

// 1 if this build may contain entries of winograd_i8_list.inc.
#define TAPER_WINOGRAD_I8 (!TAPER_IS_ONE(TAPER_LEFT_OUT_winograd_i8))

enum { TAPER_WINOGRAD_I8_SIDE = 6, TAPER_WINOGRAD_I8_POSITIONS = 36, TAPER_WINOGRAD_I8_MOST_NR = 32 };

// Writes v[position * v_stride + c] for each channel c. channels is at least the entry's `inputs`.
typedef void taper_winograd_i8_input_function(size_t channels, const uint8_t *const *x, int32_t zero_point, int16_t *v,
                                              size_t v_stride);

// Writes the transformed weights u[position * u_stride + i] from the 3x3 weights g[tap * 2 * nr + i], for i < 2 * nr.
// These are the weights of two input channels for each of the nr columns of a panel, in the order of the panel.
typedef void taper_winograd_i8_weights_function(const int8_t *g, int16_t *u, size_t u_stride);

typedef struct taper_winograd_i8_product {
    // rows: number of rows, from 1 to the entry's mr. columns: number of columns. depth: number of inputs, even.
    size_t rows, columns, depth;
    const int16_t *a; // transformed inputs, [rows][depth]
    const int16_t *w; // packed panels of weights
    int32_t *c;
    // Distance between rows of the sums, in numbers; up to nr columns may be written after the last one.
    size_t c_stride;
    // The weights of the next product, which are as many as the weights of this product. The kernel prefetches
    // one of `parts` equal parts of them.
    const char *next;
    size_t parts;
} taper_winograd_i8_product;

typedef void taper_winograd_i8_product_function(const taper_winograd_i8_product *job);

typedef struct taper_winograd_i8_output {
    const int32_t *middle; // middle of each channel's sums, from the first channel of the call on
    uint8_t *y;
    size_t row, pixel;    // number of bytes between rows and between pixels of y
    size_t rows, columns; // numbers of rows and columns of the tile's outputs to write
    taper_i8_epilogue e;  // parameters of byte results
} taper_winograd_i8_output;

// Writes the outputs. channels is at least the entry's `lanes`.
typedef void taper_winograd_i8_output_function(size_t channels, const int32_t *m, size_t m_stride,
                                               const taper_winograd_i8_output *o);

typedef struct taper_winograd_i8_entry {
    const char *name;
    uint64_t cpu;
    // mr: largest number of rows of a product. nr: number of columns of a panel. kr: contiguous inputs of a column, 1
    // or 2.
    uint32_t mr, nr, kr;
    uint32_t inputs, lanes; // number of channels of a vector in input() and in output()
    uint32_t cost;          // cost of a product, in sixteenths of a product of bytes with the same instruction set
    taper_winograd_i8_input_function *input;
    taper_winograd_i8_weights_function *weights;
    taper_winograd_i8_product_function *product;
    taper_winograd_i8_output_function *output;
} taper_winograd_i8_entry;

// Returns the middle of the possible sums of a channel without its bias. sum is the sum of the channel's weights.
static inline int32_t taper_winograd_i8_middle(int32_t sum, int32_t zero_point)
{
    const int64_t twice = (int64_t)sum * (255 - 2 * zero_point);
    return (int32_t)((twice - (twice & 1)) / 2);
}

// Returns true if any two possible sums of a channel differ modulo 2^26. magnitudes is the sum of the magnitudes of its
// weights.
static inline bool taper_winograd_i8_holds(uint64_t magnitudes)
{
    return magnitudes <= ((UINT64_C(1) << 26) - 4) / 255;
}

// A panel to pack, of at most nr columns: for every kr inputs, for every column, kr transformed weights; missing
// weights are zero. Position p is at u + p * u_stride. Weight (column n, tap t, input k) of the source is w[n *
// n_stride + t * tap_stride + k * k_stride]. sums receives the sum of each column's weights, for the whole panel.
typedef struct taper_winograd_i8_pack_job {
    size_t columns, depth;
    size_t n_stride, tap_stride, k_stride;
    const int8_t *w;
    int16_t *u;
    size_t u_stride;
    int32_t *sums;
} taper_winograd_i8_pack_job;
void taper_winograd_i8_pack(const taper_winograd_i8_entry *entry, const taper_winograd_i8_pack_job *job);

#define KERNEL(isa, mr, nr, kr, inputs, lanes, cost)                                                                   \
    taper_winograd_i8_input_function taper_winograd_i8_input_##isa;                                                    \
    taper_winograd_i8_weights_function taper_winograd_i8_weights_##isa;                                                \
    taper_winograd_i8_product_function taper_winograd_i8_product_##isa;                                                \
    taper_winograd_i8_output_function taper_winograd_i8_output_##isa;
#include "ops/kernels/winograd_i8_list.inc"
#undef KERNEL

#endif
