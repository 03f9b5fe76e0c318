// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms for 3x3 convolutions of NHWC floats. With stride 1, f4 computes 4x4 outputs from 6x6 inputs
// with 36 products instead of 144, and f2 computes 2x2 from 4x4 with 16 instead of 36. With stride 2, s4 computes 4x4
// from 9x9 with 81 instead of 144.
//
// How an operator uses them
// - A position is one of the side x side numbers of a transformed tile. A set is the weights by which the operator
//   multiplies a position (taper_winograd_set). Each position has a set of its own, except that the middle tap of s4
//   multiplies several positions by the same weights.
// - Once: the operator calls weights() for each input channel, which computes the weights of every set. The operator
//   packs each set as the weights of one product (gemm_f32.h).
// - A tile is the inputs x[side * i + j] of outputs x outputs results, at any addresses: a convolution with dilation d
//   consists of d x d convolutions without a dilation, each of every d-th row and column.
// - In a run the operator calls input() for each tile, computes one product of all tiles for every position, and calls
//   output() for each tile.
// - At the lower and right edges a tile of f4 and s4 may have rows and columns of 3 or 2 outputs, with the same
//   weights. Such a tile has only some of the positions (taper_winograd_has): 11 for a line of 7 outputs instead of 12.
//
// The points of interpolation:
//   f4: 0, +-21/32, +-3/2, infinity
//   s4: +-1/2, +-5/4, infinity
//   f2: 0, +-1, infinity
// The constants of the transforms of inputs and outputs are exact floats. With the usual points (0, +-1, +-2) f4's
// error would be twice as large.
//
// An infinity or NaN among a tile's inputs makes at least one of its four corner outputs infinite or NaN, before the
// clamp. With stride 2, this is an output at the tile's border, or an output to which the input itself contributes. The
// infinity or NaN may spread to other outputs too. output() reports this, and the caller computes the tile directly.
#ifndef TAPER_KERNELS_WINOGRAD_F32_H
#define TAPER_KERNELS_WINOGRAD_F32_H

#include <stdbool.h>

#include "ops/kernels/arch.h"

// Number of inputs on a side of the largest tile; number of all its inputs.
enum { TAPER_WINOGRAD_SIDE = 9, TAPER_WINOGRAD_POSITIONS = 81 };

// The positions on a side of a tile with 2, 3 or 4 outputs. A tile has one position for each of its inputs.
static const uint8_t taper_winograd_f4_positions[3][TAPER_WINOGRAD_SIDE] = {
    {0, 1, 2, 5}, {0, 1, 2, 3, 5}, {0, 1, 2, 3, 4, 5}};
static const uint8_t taper_winograd_s4_positions[3][TAPER_WINOGRAD_SIDE] = {
    {0, 1, 4, 5, 6}, {0, 1, 2, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7, 8}};

// Writes v[position * v_stride + c] for each channel c of a tile of rows x columns outputs. Here and in output(),
// channels is at least the entry's lanes.
typedef void taper_winograd_input_function(size_t rows, size_t columns, size_t channels, const float *const *x,
                                           float *v, size_t v_stride);

typedef struct taper_winograd_output {
    const float *bias; // bias of each channel, from the first channel of the call on
    float *y;
    const float *add;     // summand with the strides of y, or NULL; must not be y
    size_t row, pixel;    // number of floats between rows and between pixels of y
    size_t rows, columns; // numbers of rows and columns of the tile's outputs to write
    float min, max;       // limits of the results, as in taper_gemm_epilogue
} taper_winograd_output;

// Writes the outputs. Returns true if a corner was infinite or NaN.
typedef bool taper_winograd_output_function(size_t rows, size_t columns, size_t channels, const float *m,
                                            size_t m_stride, const taper_winograd_output *o);
// Writes u[set * u_stride + i] from the 3x3 weights g[tap * g_stride + i], for i < count.
typedef void taper_winograd_weights_function(size_t count, const float *g, size_t g_stride, float *u, size_t u_stride);

typedef struct taper_winograd_entry {
    const char *name;
    uint64_t cpu;
    // Outputs on a tile's side; stride of the convolution; number of floats of a vector.
    uint32_t outputs, stride, lanes;
    taper_winograd_input_function *input;
    taper_winograd_output_function *output;
    taper_winograd_weights_function *weights;
} taper_winograd_entry;

static inline size_t taper_winograd_side(const taper_winograd_entry *entry)
{
    return (entry->outputs - 1) * entry->stride + 3;
}

// Returns the number of sets of weights along one side of a tile.
static inline size_t taper_winograd_sets(const taper_winograd_entry *entry)
{
    return entry->outputs + 2;
}

static inline size_t taper_winograd_set(const taper_winograd_entry *entry, size_t position)
{
    const size_t side = taper_winograd_side(entry), sets = taper_winograd_sets(entry);
    const size_t row = position / side, column = position % side;
    return (row < sets ? row : sets - 1) * sets + (column < sets ? column : sets - 1);
}

// Returns true if a line of a tile with this number of outputs has the position.
static inline bool taper_winograd_has(const taper_winograd_entry *entry, size_t outputs, size_t position)
{
    if (outputs == entry->outputs) {
        return true;
    }
    const uint8_t(*positions)[TAPER_WINOGRAD_SIDE] =
        entry->stride == 1 ? taper_winograd_f4_positions : taper_winograd_s4_positions;
    bool has = false;
    for (size_t i = 0; i < (outputs - 1) * entry->stride + 3; i++) {
        has |= positions[outputs - 2][i] == position;
    }
    return has;
}

#define KERNEL(isa, size, outputs, stride, lanes)                                                                      \
    taper_winograd_input_function taper_winograd_f32_##size##_input_##isa;                                             \
    taper_winograd_output_function taper_winograd_f32_##size##_output_##isa;                                           \
    taper_winograd_weights_function taper_winograd_f32_##size##_weights_##isa;
#include "ops/kernels/winograd_f32_list.inc"
#undef KERNEL

#endif
