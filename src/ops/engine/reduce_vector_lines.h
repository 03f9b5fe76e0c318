// SPDX-License-Identifier: BSD-2-Clause
// Part of reduce_vector.c: many short lines at a time.
#ifndef TAPER_OPS_ENGINE_REDUCE_VECTOR_LINES_H
#define TAPER_OPS_ENGINE_REDUCE_VECTOR_LINES_H

bool taper_reduce_vector_has_lines(const taper_reduce_vector *v, size_t n, size_t m)
{
    enum { SHORT = 8 }; // number of vectors in the longest line; for longer lines taper_reduce_vector_fold is faster
    return v->vector->fold_lines[v->kind] != NULL && n >= v->vector->lanes && n <= SHORT * (size_t)v->vector->lanes &&
           m > 1 && m >= v->vector->lanes / 2;
}

bool taper_reduce_vector_lines(const taper_reduce_vector *v, double *acc, const float *x, size_t n, size_t stride,
                               size_t m)
{
    float values[MOST_LANES];
    v->vector->fold_lines[v->kind](m, n, x, stride, values);
    return join_all(v, acc, values, m);
}

#endif
