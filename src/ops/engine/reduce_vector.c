// SPDX-License-Identifier: BSD-2-Clause
// Reduces blocks of floats into accumulators of doubles.
#include "ops/engine/reduce_vector.h"

#include <float.h>
#include <math.h>

#include "ops/kernels/kernel_select.h"

// Each lane of a kernel's accumulators adds at most ADDED floats, so its rounding error is far below a float's
// precision. ACCUMULATORS: number of accumulators of a kernel, each of them a vector. MOST_LANES: largest number of
// results that are computed together.
enum { ADDED = 64, ACCUMULATORS = 4, MOST_LANES = 128 };

static bool is_sum(const taper_reduce_vector *v)
{
    return v->kind < TAPER_REDUCTION_MOST;
}

bool taper_reduce_vector_find(taper_reduce_vector *v, const taper_run *run, taper_reduction kind)
{
    if (run->portable || kind == TAPER_REDUCTION_NONE) {
        return false;
    }
    *v = (taper_reduce_vector){.vector = taper_vector_f32_select(run->cpu), .kind = kind};
    v->block = is_sum(v) ? (size_t)v->vector->lanes * ACCUMULATORS * ADDED : SIZE_MAX;
    return v->vector->fold[kind] != NULL;
}

// Returns false if a float cannot represent the sum: it overflowed, or every square may have underflowed.
static bool holds(const taper_reduce_vector *v, float sum)
{
    return !is_sum(v) ||
           (fabsf(sum) <= FLT_MAX && (v->kind != TAPER_REDUCTION_SQUARES || sum >= FLT_MIN / FLT_EPSILON));
}

static void join(const taper_reduce_vector *v, double *acc, float value)
{
    const double x = (double)value;
    *acc = is_sum(v)                         ? *acc + x
           : v->kind == TAPER_REDUCTION_MOST ? (x > *acc || x != x ? x : *acc)
                                             : (x < *acc || x != x ? x : *acc);
}

bool taper_reduce_vector_fold(const taper_reduce_vector *v, double *acc, const float *x, size_t n)
{
    const float value = v->vector->fold[v->kind](n, x);
    const bool held = holds(v, value);
    if (held) {
        join(v, acc, value);
    }
    return held;
}

// Adds m values to m accumulators, or for extremes replaces the accumulators that the values exceed. Returns false,
// with acc unchanged, if a float could not represent a value. The loops are written for the compiler to vectorize.
static bool join_all(const taper_reduce_vector *v, double *acc, const float *values, size_t m)
{
    bool held = true;
    if (!is_sum(v)) {
        for (size_t k = 0; k < m && v->kind == TAPER_REDUCTION_MOST; k++) {
            const double value = (double)values[k];
            acc[k] = ((value > acc[k]) | (value != value)) ? value : acc[k];
        }
        for (size_t k = 0; k < m && v->kind == TAPER_REDUCTION_LEAST; k++) {
            const double value = (double)values[k];
            acc[k] = ((value < acc[k]) | (value != value)) ? value : acc[k];
        }
        return true;
    }
    const float least = v->kind == TAPER_REDUCTION_SQUARES ? FLT_MIN / FLT_EPSILON : -FLT_MAX;
    int beyond = 0;
    for (size_t k = 0; k < m; k++) {
        beyond |= !((values[k] <= FLT_MAX) & (values[k] >= least));
    }
    held = beyond == 0;
    for (size_t k = 0; k < m && held; k++) {
        acc[k] += (double)values[k];
    }
    return held;
}

bool taper_reduce_vector_rows(const taper_reduce_vector *v, double *acc, const float *x, size_t rows, size_t stride,
                              size_t m)
{
    float values[MOST_LANES];
    v->vector->fold_rows[v->kind](rows, m, x, stride, values);
    return join_all(v, acc, values, m);
}

#include "ops/engine/reduce_vector_lines.h"
