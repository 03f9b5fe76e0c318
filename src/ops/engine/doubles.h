// SPDX-License-Identifier: BSD-2-Clause
// Functions over arrays of doubles, of any length, that call the kernels of ops/kernels/native.h. Norms, softmax and
// resizing use them for tensors of doubles. Runs that must use only portable code (run->portable) do not use them.
#ifndef TAPER_OPS_DOUBLES_H
#define TAPER_OPS_DOUBLES_H

#include "ops/call/call.h"
#include "ops/kernels/native.h"

// Returns true if the run may use the functions of this header.
static inline bool taper_doubles_are_fast(const taper_run *run)
{
    return !run->portable;
}
// Applies the operator `native` to n elements of each input array and writes them to out. x may be out.
void taper_doubles_apply(const taper_run *run, taper_native native, size_t n, const double *x, const double *y,
                         const double *z, double *out, const taper_native_numbers *numbers);
// Returns the kernel for lines of doubles that computes `native`, or NULL if there is none.
taper_lines_f64 *taper_doubles_lines(const taper_run *run, taper_native native);
double taper_doubles_sum(const taper_run *run, size_t n, const double *x);
double taper_doubles_most(const taper_run *run, size_t n, const double *x);
// Returns the sum of (x - mean)² over n elements.
double taper_doubles_deviations(const taper_run *run, size_t n, const double *x, double mean);

#endif
