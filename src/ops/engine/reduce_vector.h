// SPDX-License-Identifier: BSD-2-Clause
// Reductions of floats by the vector kernels: some thousands are added as floats, and what these give as doubles.
#ifndef TAPER_OPS_REDUCE_VECTOR_H
#define TAPER_OPS_REDUCE_VECTOR_H

#include "ops/call/call.h"
#include "ops/kernels/vector_f32.h"

typedef struct taper_reduce_vector {
    const taper_vector_entry *vector;
    taper_reduction kind;
    size_t block; // floats that taper_reduce_vector_fold takes at once at most
} taper_reduce_vector;

// Rows that taper_reduce_vector_rows takes at once at most.
enum { TAPER_REDUCE_ROWS = 64 };

// False: there is no kernel for it, or the run is portable.
bool taper_reduce_vector_find(taper_reduce_vector *v, const taper_run *run, taper_reduction kind);
// False: floats do not hold the result (the sum overflowed, or squares vanished); *acc is as it was.
bool taper_reduce_vector_fold(const taper_reduce_vector *v, double *acc, const float *x, size_t n);
// stride in floats; m lanes.
bool taper_reduce_vector_rows(const taper_reduce_vector *v, double *acc, const float *x, size_t rows, size_t stride,
                              size_t m);
// Short lines, m of them, `stride` floats apart. Whether there is a kernel for m lines of n floats; and as above.
bool taper_reduce_vector_has_lines(const taper_reduce_vector *v, size_t n, size_t m);
bool taper_reduce_vector_lines(const taper_reduce_vector *v, double *acc, const float *x, size_t n, size_t stride,
                               size_t m);

#endif
