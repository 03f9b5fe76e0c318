// SPDX-License-Identifier: BSD-2-Clause
// Distances between the rows of two matrices of floats.
#ifndef TAPER_OPS_DISTANCE_ROWS_H
#define TAPER_OPS_DISTANCE_ROWS_H

#include "ops/call/call.h"

// out[i][j] = the distance of x's row i (m of them, k floats each) to y's row j (n): the root of the sum of squares, or
// the sum of magnitudes. No size is 0.
TAPER_MUST_USE taper_status taper_distance_rows(taper_run *run, int64_t m, int64_t n, int64_t k, const float *x,
                                                const float *y, bool squares, float *out);

#endif
