// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/cat_rows.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_CAT_ROWS_H
#define TAPER_OPS_TENSOR_CAT_ROWS_H

static inline taper_status fill_rows(taper_run *run, const taper_list *list, const cat_plan *plan, taper_tensor *result)
{
    (void)run, (void)list, (void)plan, (void)result;
    return TAPER_DECLINED;
}

#endif
