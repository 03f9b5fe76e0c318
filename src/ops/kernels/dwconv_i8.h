// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of NHWC uint8 with one int8 filter per channel, any kernel, stride and dilation, requantized as
// gemm_i8.h does it. Every entry gives the same bits.
//   sum(i, c) = bias[c] + sum over taps t of (a[t][i * step + c] - shift) * w(c, t)
// shift is the entry's, as in gemm_i8.h.
//
// How an operator uses it
// - One call makes a run of pixels of a row whose windows lie alike: a[t] is where tap t of the first one is, and all
//   move by `step` bytes per pixel (stride times the distance of pixels). Pixels at the left and right border are runs
//   of one. Taps in padding point to bytes that all are the input's zero point: a pixel for runs of one, as long as the
//   run otherwise.
// - 3x3 without dilation, where an entry can, so that what pixels have in common is read once: an even number of
//   rows with stride 1 together (`rows`), and one row with stride 2 (`columns`). Columns overlap, the last one or two
//   of a pixel are the next one's first, so that only the first pixel has a first column of its own, which may be
//   padding. Of rows with stride 1 the last column of the last pixel may be `edge`.
// - A zero point z is taken into the bias: bias + (shift - z) * the channel's sum of weights.
//
// Order of channels: bias, scale, sums and weights lie in the kernel's own order, in which channel c has the place
// taper_dwconv_i8_place(c); there are taper_dwconv_i8_places of them.
// Entries with `words` have the weights of two taps side by side, in 16 bits: per piece of channels, per two taps, per
// place. Of the others four taps lie side by side, as the dot products of the instruction sets want them: per piece of
// channels, per four taps, per place: four weights. Entries with `columns` have the weights of 9 taps by columns of
// 3x3: 0, 3 and 6, 1, 4 and 7, 2, 5 and 8, each three with one that may be anything (packing makes it zero).
//
// over_read: bytes behind the last channel that may be read.
#ifndef TAPER_KERNELS_DWCONV_I8_H
#define TAPER_KERNELS_DWCONV_I8_H

#include <stdbool.h>

#include "ops/kernels/gemm_i8.h"

typedef struct taper_dwconv_i8 {
    size_t pixels, channels, taps;
    size_t rows;             // of the result: 1, or of entries that make some together an even number of them
    bool columns;            // one row of stride 2, of entries that can
    const uint8_t *const *a; // a pointer per tap; of several rows one per column of their input's, a[3 * row + column]
    const uint8_t *edge;     // of several rows; NULL: the last pixel's column is where it should be
    size_t step;
    const int8_t *w;
    uint8_t *c;
    size_t c_stride, c_row; // between pixels, between rows
    taper_i8_epilogue e;    // shift is not used
} taper_dwconv_i8;

typedef void taper_dwconv_i8_function(const taper_dwconv_i8 *job);

typedef struct taper_dwconv_i8_entry {
    const char *name;
    uint64_t cpu;
    uint32_t block, least; // channels in one piece: block, and for the last one half of it and so on, not under least
    uint32_t over_read;
    uint32_t shift;
    uint32_t rows;    // more than 1, even: it makes up to so many of 3x3 without dilation, with stride 1, together
    uint32_t columns; // 1: it makes rows of 3x3 of stride 2 by columns
    uint32_t words;   // 1: see above
    taper_dwconv_i8_function *run;
} taper_dwconv_i8_entry;

#define KERNEL(isa, block, least, over_read, shift, rows, columns, words)                                              \
    taper_dwconv_i8_function taper_dwconv_i8_##isa;
#include "ops/kernels/dwconv_i8_forms.h"
#include "ops/kernels/dwconv_i8_list.inc"
#undef KERNEL

// The piece that begins at a channel when `left` are left.
static inline size_t taper_dwconv_i8_piece(size_t block, size_t least, size_t left)
{
    while (block > least && left <= block / 2)
        block /= 2;
    return block;
}

size_t taper_dwconv_i8_places(const taper_dwconv_i8_entry *entry, size_t channels);
size_t taper_dwconv_i8_place(const taper_dwconv_i8_entry *entry, size_t channels, size_t channel);
// Bytes of packed weights; 0 when it does not fit size_t.
size_t taper_dwconv_i8_packed_bytes(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps);
// weights: tap t of channel c at c * channel_stride + t * tap_stride. sums: of the weights, for every place.
void taper_dwconv_i8_pack(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps, const int8_t *weights,
                          size_t channel_stride, size_t tap_stride, int8_t *packed, int32_t *sums);
// Weights that all are one.
void taper_dwconv_i8_pack_ones(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps, int8_t *packed);

#endif
