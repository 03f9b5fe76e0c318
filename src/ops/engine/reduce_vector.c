// SPDX-License-Identifier: BSD-2-Clause
// Blocks of floats into accumulators of doubles.
#include "ops/engine/reduce_vector.h"

#include <float.h>
#include <math.h>

#include "ops/kernels/kernel_select.h"

// Each lane of a kernel's accumulators adds up so many floats: their rounding stays far below that of the result.
enum { ADDED = 64, ACCUMULATORS = 4, MOST_LANES = 128 };

bool taper_reduce_vector_find(taper_reduce_vector *v, const taper_run *run, const taper_reduce_op *op)
{
    static const taper_reduce_op *const ops[TAPER_REDUCTION_COUNT] = {
        &taper_reduce_sum, &taper_reduce_square_sum, &taper_reduce_abs_sum, &taper_reduce_max, &taper_reduce_min};
    for (size_t i = 0; !run->portable && i < TAPER_REDUCTION_COUNT; i++) {
        if (ops[i] == op) {
            *v = (taper_reduce_vector){op, taper_vector_f32_select(run->cpu), (taper_reduction)i};
            return v->vector->fold[i] != NULL;
        }
    }
    return false;
}

static bool is_sum(const taper_reduce_vector *v)
{
    return v->kind < TAPER_REDUCTION_MOST;
}

// Whether floats held the sum: it may have overflowed, or squares have vanished.
static bool holds(const taper_reduce_vector *v, float sum)
{
    return fabsf(sum) <= FLT_MAX && (v->kind != TAPER_REDUCTION_SQUARES || sum >= FLT_MIN / FLT_EPSILON || sum == 0);
}

static void join(const taper_reduce_vector *v, double *acc, float value)
{
    const double x = (double)value;
    *acc = is_sum(v)                         ? *acc + x
           : v->kind == TAPER_REDUCTION_MOST ? (x > *acc || x != x ? x : *acc)
                                             : (x < *acc || x != x ? x : *acc);
}

void taper_reduce_vector_fold(const taper_reduce_vector *v, double *acc, const float *x, size_t n)
{
    const size_t block = is_sum(v) ? (size_t)v->vector->lanes * ACCUMULATORS * ADDED : n;
    for (size_t at = 0; at < n; at += block) {
        const size_t count = taper_min_size(block, n - at);
        const float value = v->vector->fold[v->kind](count, x + at);
        if (is_sum(v) && (!holds(v, value) || (v->kind == TAPER_REDUCTION_SQUARES && value == 0))) {
            const double none = 0;
            v->op->folds[TAPER_EW_F32](acc, x + at, count, &none, NULL);
        } else {
            join(v, acc, value);
        }
    }
}

void taper_reduce_vector_rows(const taper_reduce_vector *v, double *acc, const float *x, size_t rows, size_t stride,
                              size_t m)
{
    float values[MOST_LANES];
    bool held = true;
    v->vector->fold_rows[v->kind](rows, m, x, stride, values);
    for (size_t k = 0; is_sum(v) && k < m; k++) {
        held = held && holds(v, values[k]) && (v->kind != TAPER_REDUCTION_SQUARES || values[k] != 0);
    }
    if (!held) {
        const double none[MOST_LANES] = {0};
        for (size_t r = 0; r < rows; r++) {
            v->op->lanes[TAPER_EW_F32](acc, x + r * stride, m, none, NULL);
        }
        return;
    }
    for (size_t k = 0; k < m; k++) {
        join(v, &acc[k], values[k]);
    }
}
