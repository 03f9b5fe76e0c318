// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes: few channels, or groups of few, for which neighbouring channels would not fill a vector. A
// vector is of neighbouring pixels instead, and every tap of every input plane is one vector that is multiplied with
// the weights of all outputs of a block.
//
// How an operator uses it
// - A plane is a padded image whose rows follow each other with a pitch of their own, so that pixels of all rows are
// one
//   line: position p of the result sees x[input * x_plane + offsets[tap] + p]. What lies between the rows is computed
//   too, and is nothing. A stride of s makes s x s planes of an image, of every s-th row and column.
// - Outputs are made in blocks of at most entry->block. Weights of a block of n: {bias[n], then for each input, for
// each
//   tap: w[n]}.
// - Reads less than a vector behind the last position of a tap.
#ifndef TAPER_KERNELS_PLANAR_F32_H
#define TAPER_KERNELS_PLANAR_F32_H

#include "ops/kernels/arch.h"

enum { TAPER_PLANAR_SLACK = 64, TAPER_PLANAR_TAPS = 128 }; // TAPS: that callers have room for

typedef struct taper_planar {
    size_t inputs, taps, outputs; // outputs: of the block
    const float *x;
    size_t x_plane;         // floats between planes
    const size_t *offsets;  // of the taps, in floats
    const float *w;         // of the block, as above
    size_t w_first, w_taps; // `taps` are those from w_first on of w_taps; 0 and 0: all there are
    float *y;
    size_t y_plane;
    float min, max; // clamp; -INFINITY and INFINITY for none. NaN stays NaN
} taper_planar;

// y[output * y_plane + p] for p < count.
typedef void taper_planar_f32_function(const taper_planar *planar, size_t count);

typedef struct taper_planar_entry {
    const char *name;
    uint64_t cpu;
    uint32_t block, lanes; // outputs of a block at most; of a vector
    taper_planar_f32_function *run;
} taper_planar_entry;

#define KERNEL(isa, block, lanes) taper_planar_f32_function taper_planar_f32_##isa;
#include "ops/kernels/planar_f32_list.inc"
#undef KERNEL

#endif
