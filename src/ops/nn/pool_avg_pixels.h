// SPDX-License-Identifier: BSD-2-Clause
// Part of pool_avg.c: a kernel adds the pixels of long windows.
#ifndef TAPER_OPS_NN_POOL_AVG_PIXELS_H
#define TAPER_OPS_NN_POOL_AVG_PIXELS_H

// Returns the kernel that adds rows of pixels, or NULL if the kernel cannot compute this pool.
static taper_reduce_rows_f32_function *find_add(const avg_work *work)
{
    return work->run->portable || work->x.stride[2] < 0
               ? NULL
               : taper_vector_f32_select(work->run->cpu)->fold_rows[TAPER_REDUCTION_SUM];
}

#endif
