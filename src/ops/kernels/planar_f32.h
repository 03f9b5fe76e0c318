// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes: few channels, or groups of few channels, which would not fill a vector. A vector has
// neighbouring pixels instead. For each tap of each input plane one vector is loaded and multiplied with the weights of
// all outputs of a block.
//
// How an operator uses it
// - A plane is a padded image whose rows follow each other with a fixed pitch, so that the pixels of all rows are one
//   line: position p of the result reads x[input * x_plane + offsets[tap] + p]. Positions between the rows are computed
//   too, and their results are not used. With stride s an image becomes s x s planes, each with every s-th row and
//   column.
// - Outputs are computed in blocks of at most entry->block. The weights of a block of n outputs are {bias[n], then for
//   each input, for each tap: w[n]}.
// - The kernel reads less than a vector beyond the last position of a tap.
#ifndef TAPER_KERNELS_PLANAR_F32_H
#define TAPER_KERNELS_PLANAR_F32_H

#include "ops/kernels/arch.h"

// SLACK: floats that are allocated after a plane; TAPS: largest number of taps.
enum { TAPER_PLANAR_SLACK = 64, TAPER_PLANAR_TAPS = 128 };

typedef struct taper_planar {
    // Number of input planes, number of taps, and number of outputs of the block.
    size_t inputs, taps, outputs;
    const float *x;
    size_t x_plane;        // number of floats between planes
    const size_t *offsets; // one offset per tap, in floats
    const float *w;        // weights of the block, in the order described above
    // The call uses `taps` of w_taps taps, from w_first on. If w_taps is 0, the call uses all taps.
    size_t w_first, w_taps;
    float *y;
    size_t y_plane;
    float min, max; // limits of the results; -INFINITY and INFINITY if there are no limits; a NaN stays NaN
} taper_planar;

// Computes y[output * y_plane + p] for p < count.
typedef void taper_planar_f32_function(const taper_planar *planar, size_t count);

typedef struct taper_planar_entry {
    const char *name;
    uint64_t cpu;
    uint32_t block, lanes; // largest number of outputs in a block; number of floats of a vector
    taper_planar_f32_function *run;
} taper_planar_entry;

#define KERNEL(isa, block, lanes) taper_planar_f32_function taper_planar_f32_##isa;
#include "ops/kernels/planar_f32_list.inc"
#undef KERNEL

#endif
