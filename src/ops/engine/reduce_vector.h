// SPDX-License-Identifier: BSD-2-Clause
// Reductions of floats by the vector kernels. A kernel adds a few thousand floats; the partial sums are added as
// doubles.
#ifndef TAPER_OPS_REDUCE_VECTOR_H
#define TAPER_OPS_REDUCE_VECTOR_H

#include "ops/call/call.h"
#include "ops/kernels/vector_f32.h"

typedef struct taper_reduce_vector {
    const taper_vector_entry *vector;
    taper_reduction kind;
    size_t block; // largest number of floats for one call of taper_reduce_vector_fold
} taper_reduce_vector;

// Largest number of rows for one call of taper_reduce_vector_rows.
enum { TAPER_REDUCE_ROWS = 64 };

// Fills *v. Returns false if there is no kernel, or if run->portable is set.
bool taper_reduce_vector_find(taper_reduce_vector *v, const taper_run *run, taper_reduction kind);
// Reduces n floats into *acc. Returns false, with *acc unchanged, if a float cannot represent the result: the sum
// overflowed, or squares underflowed.
bool taper_reduce_vector_fold(const taper_reduce_vector *v, double *acc, const float *x, size_t n);
// Reduces `rows` rows into m accumulators, one per column. stride is in floats. Returns false, with acc unchanged, if a
// float cannot represent a result.
bool taper_reduce_vector_rows(const taper_reduce_vector *v, double *acc, const float *x, size_t rows, size_t stride,
                              size_t m);
// For m short lines of n floats, `stride` floats apart: taper_reduce_vector_has_lines returns true if there is a
// kernel. taper_reduce_vector_lines reduces line i into acc[i], and returns false if a float cannot represent a result.
bool taper_reduce_vector_has_lines(const taper_reduce_vector *v, size_t n, size_t m);
bool taper_reduce_vector_lines(const taper_reduce_vector *v, double *acc, const float *x, size_t n, size_t stride,
                               size_t m);

#endif
