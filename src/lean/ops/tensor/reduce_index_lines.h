// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/reduce_index_lines.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_REDUCE_INDEX_LINES_H
#define TAPER_OPS_TENSOR_REDUCE_INDEX_LINES_H

#include "ops/call/call.h"

static inline bool taper_pick_lines(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                                    taper_tensor *values, taper_tensor *indices, taper_status *status)
{
    (void)run, (void)x, (void)dim, (void)smallest, (void)keep, (void)values, (void)indices, (void)status;
    return false;
}

#endif
