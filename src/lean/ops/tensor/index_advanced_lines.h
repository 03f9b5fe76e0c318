// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/index_advanced_lines.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_INDEX_ADVANCED_LINES_H
#define TAPER_OPS_TENSOR_INDEX_ADVANCED_LINES_H

static inline bool gather_lines(taper_run *run, const index_plan *plan, const block *b, const taper_tensor *self,
                                size_t item, taper_tensor *result, taper_status *status)
{
    (void)run, (void)plan, (void)b, (void)self, (void)item, (void)result, (void)status;
    return false;
}

#endif
