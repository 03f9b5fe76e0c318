// SPDX-License-Identifier: BSD-2-Clause
// Winograd's F(4x4, 3x3) for convolutions of quantized NHWC numbers with stride 1: 36 products of 16 bits in place of
// 144 of 8, in integers and exact: the sums are those of gemm_i8.h.
//
// With the points 0, +-1, +-2 and infinity all transforms are of integers once the weights' denominators (4, -6, -6,
// 24, 24, 1 of each position's row, and of its column) are left out; 24 divided by them is what the outputs' transform
// weighs its lines with instead. Then
// - inputs x - z, where x and z are bytes, become at most 100 * 255, weights at most 49 * 128: 16 bits hold them.
// - what a tile comes to is 576 times the sum, in 32 bits modulo 2^32. 576 is 64 * 9, and 9 has an inverse modulo 2^32:
//   what is left is 64 times the sum, so the sum modulo 2^26. A sum lies within 255 times its weights' magnitudes,
//   around the middle of what it can be (taper_winograd_i8_middle): a channel where that is less than 2^26 is exact
//   (taper_winograd_i8_holds). That is so up to 228 inputs, whatever their weights.
//
// How an operator uses it
// - Once: taper_winograd_i8_pack of the weights.
// - A tile is the inputs x[6 * i + j] under 4x4 results, which may lie anywhere: a convolution with dilation d is d x d
//   ones without, of every d-th row and column. Missing ones point to `channels` bytes of the zero point.
// - input() of each tile; for every position product() of at most mr tiles at a time; output() of each tile.
#ifndef TAPER_KERNELS_WINOGRAD_I8_H
#define TAPER_KERNELS_WINOGRAD_I8_H

#include <stdbool.h>

#include "ops/kernels/gemm_i8.h"

// Whether some row of the list may be in this build.
#define TAPER_WINOGRAD_I8 (!TAPER_IS_ONE(TAPER_LEFT_OUT_winograd_i8))

enum { TAPER_WINOGRAD_I8_SIDE = 6, TAPER_WINOGRAD_I8_POSITIONS = 36, TAPER_WINOGRAD_I8_MOST_NR = 32 };

// v[position * v_stride + c] of the channels c, which are at least the entry's `inputs`.
typedef void taper_winograd_i8_input_function(size_t channels, const uint8_t *const *x, int32_t zero_point, int16_t *v,
                                              size_t v_stride);

// u[position * u_stride + i] of the 3x3 weights g[tap * 2 * nr + i], i < 2 * nr: two inputs of each column of a panel,
// in its order.
typedef void taper_winograd_i8_weights_function(const int8_t *g, int16_t *u, size_t u_stride);

typedef struct taper_winograd_i8_product {
    size_t rows, columns, depth; // rows: 1 to the entry's mr; depth: of the inputs, even
    const int16_t *a;            // [rows][depth]
    const int16_t *w;            // panels
    int32_t *c;
    size_t c_stride;  // numbers; those behind the columns of the last panel may be written, up to nr
    const char *next; // what will be multiplied after w, as large: one part in `parts` of it is asked for
    size_t parts;
} taper_winograd_i8_product;

typedef void taper_winograd_i8_product_function(const taper_winograd_i8_product *job);

typedef struct taper_winograd_i8_output {
    const int32_t *middle; // of the first channel's sums
    uint8_t *y;
    size_t row, pixel;    // bytes between rows and pixels of y
    size_t rows, columns; // how many of the tile's outputs are wanted
    taper_i8_epilogue e;  // of bytes
} taper_winograd_i8_output;

// Of channels that are at least the entry's `lanes`.
typedef void taper_winograd_i8_output_function(size_t channels, const int32_t *m, size_t m_stride,
                                               const taper_winograd_i8_output *o);

typedef struct taper_winograd_i8_entry {
    const char *name;
    uint64_t cpu;
    uint32_t mr, nr, kr;    // as of gemm_i8.h; kr: 1 or 2
    uint32_t inputs, lanes; // of a vector of input() and of output()
    uint32_t cost;          // of a product, in sixteenths of one of the same set's of bytes
    taper_winograd_i8_input_function *input;
    taper_winograd_i8_weights_function *weights;
    taper_winograd_i8_product_function *product;
    taper_winograd_i8_output_function *output;
} taper_winograd_i8_entry;

// The middle of what a channel's sum without its bias can be, whose weights have this sum.
static inline int32_t taper_winograd_i8_middle(int32_t sum, int32_t zero_point)
{
    const int64_t twice = (int64_t)sum * (255 - 2 * zero_point);
    return (int32_t)((twice - (twice & 1)) / 2);
}

// Whether all sums can be told apart, where this is the sum of the magnitudes of a channel's weights.
static inline bool taper_winograd_i8_holds(uint64_t magnitudes)
{
    return magnitudes <= ((UINT64_C(1) << 26) - 4) / 255;
}

// Packs a panel, of nr columns or fewer: for every kr inputs, for every column, kr transformed weights;
// missing ones are zero. Position p's are at u + p * u_stride. Weight (column n, tap t, input k) of the source
// is w[n * n_stride + t * tap_stride + k * k_stride]. sums: of each column's weights, for the whole panel.
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
