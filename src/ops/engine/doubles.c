// SPDX-License-Identifier: BSD-2-Clause
// Functions over arrays of doubles (doubles.h).
#include "ops/engine/doubles.h"

#include <math.h>
#include <string.h>

#include "ops/kernels/kernel_select.h"

void taper_doubles_apply(const taper_run *run, taper_native native, size_t n, const double *x, const double *y,
                         const double *z, double *out, const taper_native_numbers *numbers)
{
    taper_native_function *const function = taper_native_select(run->cpu)->functions[native][TAPER_NATIVE_F64];
    const size_t whole = n / TAPER_NATIVE_STEP * TAPER_NATIVE_STEP, rest = n - whole;
    const void *in[] = {x, y, z};
    if (whole != 0) {
        (void)function(whole, in, out, numbers);
    }
    if (rest != 0) {
        double places[3][TAPER_NATIVE_STEP] = {{0}};
        const void *padded[] = {places[0], places[1], places[2]};
        for (size_t k = 0; k < 3; k++) {
            memcpy(places[k], (const double *)in[k] + whole, rest * sizeof(double));
        }
        (void)function(TAPER_NATIVE_STEP, padded, places[0], numbers);
        memcpy(out + whole, places[0], rest * sizeof(double));
    }
}

double taper_doubles_sum(const taper_run *run, size_t n, const double *x)
{
    double sum = 0;
    taper_native_select(run->cpu)->folds[TAPER_FOLD_SUM][TAPER_FOLD_F64].line(n, x, &sum);
    return sum;
}

double taper_doubles_most(const taper_run *run, size_t n, const double *x)
{
    double most = -INFINITY;
    taper_native_select(run->cpu)->folds[TAPER_FOLD_MOST][TAPER_FOLD_F64].line(n, x, &most);
    return most;
}

double taper_doubles_deviations(const taper_run *run, size_t n, const double *x, double mean)
{
    return taper_native_select(run->cpu)->deviations_f64(n, x, mean);
}
