// SPDX-License-Identifier: BSD-2-Clause
// Layers with many inputs and at most four outputs. The kernels of products fill vectors with neighbouring outputs,
// which are too few here. Here each output is a dot product, with vectors along the inputs.
#ifndef TAPER_CPU_FEW_OUTPUTS_H
#define TAPER_CPU_FEW_OUTPUTS_H

#include "ops/kernels/kernel_select.h"

// TAPER_FEW_OUTPUTS: largest number of outputs. TAPER_FEW_OUTPUTS_GRAIN: number of rows that are computed together.
enum { TAPER_FEW_OUTPUTS = 4, TAPER_FEW_OUTPUTS_GRAIN = 64 };

typedef struct taper_few_outputs {
    const taper_vector_entry *vector;
    size_t in, out;       // number of inputs; number of outputs, at most TAPER_FEW_OUTPUTS
    const float *weights; // `in` floats for each output
    size_t weights_step;  // number of floats from one output's weights to the next output's weights
    const float *bias;    // one float per output, or NULL for no bias
    float min, max;       // bounds of the outputs
} taper_few_outputs;

// Returns true if dot products are faster than a matrix product by the gemm kernels.
static inline bool taper_few_outputs_pay(size_t rows, size_t in, size_t out)
{
    enum { LEAST_INPUTS = 64 }; // smallest number of inputs per output that hide the cost of the horizontal sum
    return rows > 1 && out <= TAPER_FEW_OUTPUTS && in / LEAST_INPUTS >= out;
}

// Computes y[row][output] from x[row][in]. x_step is the number of floats from one row to the next. y is dense.
void taper_few_outputs_rows(const taper_few_outputs *layer, size_t rows, const float *x, size_t x_step, float *y);

#endif
