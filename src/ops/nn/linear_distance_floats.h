// SPDX-License-Identifier: BSD-2-Clause
// Part of linear_distance.c: kernels for the distances of one row of floats to many rows.
#ifndef TAPER_OPS_NN_LINEAR_DISTANCE_FLOATS_H
#define TAPER_OPS_NN_LINEAR_DISTANCE_FLOATS_H

// Returns the kernel for rows short enough for sums in floats, or NULL.
static taper_distance_f32_function *find_distances(const taper_run *run, const taper_tensor *x, const taper_tensor *y,
                                                   double p)
{
    enum { MOST = 1 << 12 };
    const bool floats = x->dtype == TAPER_F32 && y->dtype == TAPER_F32 && x->sizes[x->rank - 1u] <= MOST;
    return run->portable || !floats ? NULL : taper_vector_f32_select(run->cpu)->distances[kind_of(p)];
}

#endif
