// SPDX-License-Identifier: BSD-2-Clause
// Small dense linear algebra in double precision: what models use for transforms and whitening. Complex matrices are
// not supported.
#ifndef TAPER_OPS_LINALG_H
#define TAPER_OPS_LINALG_H

#include "ops/call.h"

// LU with partial pivoting of a row-major n by n matrix, in place. swaps[i] is the row that was exchanged with row i.
// Returns 0, or the position (from 1) of the first zero pivot. *sign: of the permutation.
int64_t taper_lu(double *a, int64_t n, int64_t *swaps, int *sign);
// Solves a x = b for columns of b [n, m] in place; a and swaps from taper_lu.
void taper_lu_solve(const double *a, int64_t n, const int64_t *swaps, double *b, int64_t m);
// The lower factor of a symmetric matrix (its lower triangle is read), in place, the upper triangle zeroed. Returns 0,
// or the order of the first minor that is not positive definite.
int64_t taper_cholesky_lower(double *a, int64_t n);
// Solves a x = b in place for a triangular a; transposed: a' x = b.
void taper_triangular(const double *a, int64_t n, bool upper, bool transposed, bool unit, double *b, int64_t m);

// tensor as contiguous doubles (a new tensor); fails unless it is a batch of square matrices (square) of a real dtype.
TAPER_MUST_USE taper_status taper_linalg_take(taper_run *run, const char *name, const taper_tensor *tensor, bool square,
                                              taper_tensor **matrices);

#endif
