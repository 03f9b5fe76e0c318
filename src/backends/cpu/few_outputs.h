// SPDX-License-Identifier: BSD-2-Clause
// Layers of one to four outputs over many inputs: the kernels of products fill vectors with neighbouring outputs, of
// which there are too few here. Each output is a dot product of a row, along which the vectors lie.
#ifndef TAPER_CPU_FEW_OUTPUTS_H
#define TAPER_CPU_FEW_OUTPUTS_H

#include "ops/kernels/kernel_select.h"

enum { TAPER_FEW_OUTPUTS = 4, TAPER_FEW_OUTPUTS_GRAIN = 64 }; // GRAIN: rows that are made at a time

typedef struct taper_few_outputs {
    const taper_vector_entry *vector;
    size_t in, out;       // out: at most TAPER_FEW_OUTPUTS
    const float *weights; // in of them for each output
    size_t weights_step;  // floats from one output's to the next one's
    const float *bias;    // of each output; NULL: none
    float min, max;       // clamp
} taper_few_outputs;

// Whether that is faster than a product.
static inline bool taper_few_outputs_pay(size_t rows, size_t in, size_t out)
{
    enum { LEAST_INPUTS = 64 }; // of each output: so many hide the sum over a vector's lanes
    return rows > 1 && out <= TAPER_FEW_OUTPUTS && in / LEAST_INPUTS >= out;
}

// y[row][output] from x[row][in], x_step floats from one row to the next, y dense.
void taper_few_outputs_rows(const taper_few_outputs *layer, size_t rows, const float *x, size_t x_step, float *y);

#endif
