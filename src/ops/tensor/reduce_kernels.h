// SPDX-License-Identifier: BSD-2-Clause
// The positions of arguments in the operators that are reductions.
#ifndef TAPER_OPS_REDUCE_KERNELS_H
#define TAPER_OPS_REDUCE_KERNELS_H

#include "ops/call/call.h"

typedef struct taper_reduce_where {
    // Positions of these arguments in the schema; 0 if the argument does not exist.
    uint8_t dim, keep, dtype, p, unbiased, correction;
    bool empty; // true if an empty list of dimensions reduces no dimension; false if it reduces all
} taper_reduce_where;

extern const taper_reduce_where taper_reduce_all_dtype, taper_reduce_dim_keep_dtype, taper_reduce_dim_keep,
    taper_reduce_dims_keep, taper_reduce_dim_only, taper_reduce_all_only, taper_reduce_p, taper_reduce_p_dim_keep,
    taper_reduce_p_dim_keep_dtype, taper_reduce_p_dtype, taper_reduce_unbiased, taper_reduce_dim_unbiased_keep,
    taper_reduce_dim_correction_keep;

#endif
