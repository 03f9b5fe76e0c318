// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of NHWC uint8 with one int8 filter per channel, for any kernel, stride and dilation. Results
// are requantized as in gemm_i8.h. Every entry gives the same bits.
//   sum(i, c) = bias[c] + sum over taps t of (a[t][i * step + c] - shift) * w(c, t)
// shift is the entry's, as in gemm_i8.h.
//
// How an operator uses it
// - One call computes a run of pixels of a row with equal windows. a[t] points to tap t of the first pixel, and each
//   pixel moves all taps by `step` bytes (stride times the distance of pixels). A pixel at the left or right border is
//   a run of one. Taps in padding point to bytes that equal the input's zero point: one pixel for each pixel of the
//   run.
// - For 3x3 without dilation some entries read only once the inputs that pixels share. Such an entry computes an even
//   number of rows with stride 1 together (`rows`), or one row with stride 2 (`columns`). The last one or two columns
//   of a pixel's window are the first columns of the next pixel's window. Only the first pixel has its own first
//   column, which may be padding. With stride 1 the last column of the last pixel may be `edge`.
// - The inputs' zero point z becomes a part of the bias: the operator passes bias + (shift - z) * the channel's sum of
//   weights.
//
// Order of channels: bias, scale, sums and weights are in the kernel's own order. In this order channel c has index
// taper_dwconv_i8_place(c), and there are taper_dwconv_i8_places indices. Entries with `words` store weights in 16
// bits: for each piece of channels, for each two taps, for each index: two weights. Other entries store bytes, as dot
// product instructions need them: for each piece of channels, for each four taps, for each index: four weights. Entries
// with `columns` store the 9 taps by columns of the kernel: 0, 3, 6, then 1, 4, 7, then 2, 5, 8, each column with a
// fourth weight that is ignored (packing sets it to zero).
//
// over_read: bytes after the last channel that may be read.
#ifndef TAPER_KERNELS_DWCONV_I8_H
#define TAPER_KERNELS_DWCONV_I8_H

#include <stdbool.h>

#include "ops/kernels/gemm_i8.h"

typedef struct taper_dwconv_i8 {
    size_t pixels, channels, taps;
    size_t rows;  // number of rows of the result: 1, or an even number if the entry computes rows together
    bool columns; // true to compute one row with stride 2 by columns; only for entries with `columns`
    // One pointer per tap if rows is 1. For several rows, one pointer per column of each input row: a[3 * row +
    // column].
    const uint8_t *const *a;
    const uint8_t *edge; // used if there are several rows: the last column of the last pixel's window, or NULL if it
                         // follows the other columns
    size_t step;
    const int8_t *w;
    uint8_t *c;
    size_t c_stride, c_row; // number of bytes between pixels of the result, and between rows
    taper_i8_epilogue e;    // float results are not supported, so e.shift is not used
} taper_dwconv_i8;

typedef void taper_dwconv_i8_function(const taper_dwconv_i8 *job);

typedef struct taper_dwconv_i8_entry {
    const char *name;
    uint64_t cpu;
    // block: number of channels of a piece. The last piece may have a half, a quarter and so on, down to `least`.
    uint32_t block, least;
    uint32_t over_read;
    uint32_t shift;
    // Largest number of output rows that one call computes for 3x3 with stride 1 and without dilation: 1, or an even
    // number.
    uint32_t rows;
    uint32_t columns; // 1 if the entry computes 3x3 with stride 2 by columns
    uint32_t words;   // 1 if weights are stored in 16 bits
    taper_dwconv_i8_function *run;
} taper_dwconv_i8_entry;

#define KERNEL(isa, block, least, over_read, shift, rows, columns, words)                                              \
    taper_dwconv_i8_function taper_dwconv_i8_##isa;
#include "ops/kernels/dwconv_i8_forms.h"
#include "ops/kernels/dwconv_i8_list.inc"
#undef KERNEL

// Returns the size of a piece if `left` channels are left.
static inline size_t taper_dwconv_i8_piece(size_t block, size_t least, size_t left)
{
    while (block > least && left <= block / 2)
        block /= 2;
    return block;
}

size_t taper_dwconv_i8_places(const taper_dwconv_i8_entry *entry, size_t channels);
size_t taper_dwconv_i8_place(const taper_dwconv_i8_entry *entry, size_t channels, size_t channel);
// Returns the number of bytes of packed weights, or 0 if it does not fit into size_t.
size_t taper_dwconv_i8_packed_bytes(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps);
// Packs weights. Tap t of channel c is weights[c * channel_stride + t * tap_stride]. sums receives for each channel, in
// the kernel's order, the sum of its weights.
void taper_dwconv_i8_pack(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps, const int8_t *weights,
                          size_t channel_stride, size_t tap_stride, int8_t *packed, int32_t *sums);
// Packs weights that are all 1.
void taper_dwconv_i8_pack_ones(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps, int8_t *packed);

#endif
