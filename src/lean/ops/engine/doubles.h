// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/doubles.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_DOUBLES_H
#define TAPER_OPS_ENGINE_DOUBLES_H

#include "ops/call/call.h"
#include "ops/kernels/native.h"

static inline bool taper_doubles_are_fast(const taper_run *run)
{
    (void)run;
    return false;
}

static inline void taper_doubles_apply(const taper_run *run, taper_native native, size_t n, const double *x,
                                       const double *y, const double *z, double *out,
                                       const taper_native_numbers *numbers)
{
    (void)run, (void)native, (void)n, (void)x, (void)y, (void)z, (void)out, (void)numbers;
}

static inline double taper_doubles_sum(const taper_run *run, size_t n, const double *x)
{
    (void)run, (void)n, (void)x;
    return 0;
}

static inline double taper_doubles_most(const taper_run *run, size_t n, const double *x)
{
    (void)run, (void)n, (void)x;
    return 0;
}

static inline double taper_doubles_deviations(const taper_run *run, size_t n, const double *x, double mean)
{
    (void)run, (void)n, (void)x, (void)mean;
    return 0;
}

#endif
