// SPDX-License-Identifier: BSD-2-Clause
// Reductions of floats by the vector kernels: some thousands are added as floats, and what these give as doubles.
#ifndef TAPER_OPS_REDUCE_VECTOR_H
#define TAPER_OPS_REDUCE_VECTOR_H

#include "ops/engine/reduce.h"
#include "ops/kernels/vector_f32.h"

typedef struct taper_reduce_vector {
    const taper_reduce_op *op; // what the sums do that floats cannot hold
    const taper_vector_entry *vector;
    taper_reduction kind;
} taper_reduce_vector;

// Rows that taper_reduce_vector_rows takes at once at most.
enum { TAPER_REDUCE_ROWS = 64 };

// False: there is no kernel for the operator, or the run is portable.
bool taper_reduce_vector_find(taper_reduce_vector *v, const taper_run *run, const taper_reduce_op *op);
void taper_reduce_vector_fold(const taper_reduce_vector *v, double *acc, const float *x, size_t n);
// stride in floats; m lanes.
void taper_reduce_vector_rows(const taper_reduce_vector *v, double *acc, const float *x, size_t rows, size_t stride,
                              size_t m);

#endif
