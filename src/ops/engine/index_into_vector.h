// SPDX-License-Identifier: BSD-2-Clause
// Part of index_into.c: vector kernels for contiguous floats and doubles.
#ifndef TAPER_OPS_ENGINE_INDEX_INTO_VECTOR_H
#define TAPER_OPS_ENGINE_INDEX_INTO_VECTOR_H

#include "ops/engine/doubles.h"

// Combines n elements of `from` into `to`, both `step` bytes apart. Returns false, without changes, if no vector kernel
// does the work of the function, or if the elements are not contiguous.
static bool combine_vectors(const taper_run *run, taper_into_function function, int64_t step, char *to,
                            const char *from, int64_t n)
{
    static const struct {
        taper_into_function function;
        taper_binary binary;
    } kernels[] = {{add_f32, TAPER_BINARY_ADD},
                   {multiply_f32, TAPER_BINARY_MUL},
                   {maximum_f32, TAPER_BINARY_MAXIMUM},
                   {minimum_f32, TAPER_BINARY_MINIMUM}};
    if (run->portable) {
        return false;
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (function == kernels[i].function && step == sizeof(float)) {
            float *const t = (float *)(void *)to;
            taper_vector_f32_select(run->cpu)->binary[kernels[i].binary][TAPER_OPERANDS_VV](
                (size_t)n, t, (const float *)(const void *)from, t, -INFINITY, INFINITY);
            return true;
        }
    }
    if ((function == add_f64 || function == multiply_f64) && step == sizeof(double)) {
        double *const t = (double *)(void *)to;
        const double *const f = (const double *)(const void *)from;
        taper_doubles_apply(run, function == add_f64 ? TAPER_NATIVE_ADD : TAPER_NATIVE_MUL, (size_t)n, t, f, f, t,
                            &(taper_native_numbers){{0}, {0}});
        return true;
    }
    return false;
}

#endif
