// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/index_fill.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_INDEX_FILL_H
#define TAPER_OPS_TENSOR_INDEX_FILL_H

#include "ops/call/call.h"

static inline taper_status taper_index_fill_where(taper_run *run, taper_tensor *self, const taper_tensor *mask,
                                                  const void *value)
{
    (void)run, (void)self, (void)mask, (void)value;
    return TAPER_DECLINED;
}

#endif
