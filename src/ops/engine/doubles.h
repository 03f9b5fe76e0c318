// SPDX-License-Identifier: BSD-2-Clause
// Lines of doubles by the kernels of ops/kernels/native.h, whatever their length: what norms, softmax and resizing
// stand on where elements are doubles. Not in portable runs.
#ifndef TAPER_OPS_DOUBLES_H
#define TAPER_OPS_DOUBLES_H

#include "ops/call/call.h"
#include "ops/kernels/native.h"

// Whether a run has them.
static inline bool taper_doubles_are_fast(const taper_run *run)
{
    return !run->portable;
}
// out = the operator of n elements of each line; x may be the result.
void taper_doubles_apply(const taper_run *run, taper_native native, size_t n, const double *x, const double *y,
                         const double *z, double *out, const taper_native_numbers *numbers);
double taper_doubles_sum(const taper_run *run, size_t n, const double *x);
double taper_doubles_most(const taper_run *run, size_t n, const double *x);
// The sum of (x - mean)².
double taper_doubles_deviations(const taper_run *run, size_t n, const double *x, double mean);

#endif
