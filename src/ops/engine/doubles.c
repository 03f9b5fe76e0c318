// SPDX-License-Identifier: BSD-2-Clause
// Functions over arrays of doubles (doubles.h).
#include "ops/engine/doubles.h"

#include <math.h>
#include <string.h>

#include "ops/kernels/kernel_select.h"

taper_lines_f64 *taper_doubles_lines(const taper_run *run, taper_native native)
{
    static const uint8_t kinds[TAPER_NATIVE_COUNT] = {[TAPER_NATIVE_ADD] = 1 + TAPER_LINES_ADD,
                                                      [TAPER_NATIVE_SUB] = 1 + TAPER_LINES_SUB,
                                                      [TAPER_NATIVE_MUL] = 1 + TAPER_LINES_MUL,
                                                      [TAPER_NATIVE_DIV] = 1 + TAPER_LINES_DIV};
    return kinds[native] != 0 ? taper_native_select(run->cpu)->lines_f64[kinds[native] - 1] : NULL;
}

void taper_doubles_apply(const taper_run *run, taper_native native, size_t n, const double *x, const double *y,
                         const double *z, double *out, const taper_native_numbers *numbers)
{
    taper_lines_f64 *const lines = taper_doubles_lines(run, native);
    if (lines != NULL) { // a line may have any length, so short ones need no copies
        lines(1, n, &(taper_line_operand){x, 1, 0}, &(taper_line_operand){y, 1, 0}, out, 0);
        return;
    }
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
