// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/reduce_vector_lines.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_REDUCE_VECTOR_LINES_H
#define TAPER_OPS_ENGINE_REDUCE_VECTOR_LINES_H

bool taper_reduce_vector_has_lines(const taper_reduce_vector *v, size_t n, size_t m)
{
    (void)v, (void)n, (void)m;
    return false;
}

bool taper_reduce_vector_lines(const taper_reduce_vector *v, double *acc, const float *x, size_t n, size_t stride,
                               size_t m)
{
    (void)v, (void)acc, (void)x, (void)n, (void)stride, (void)m;
    return false;
}

#endif
