// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/index_rows_columns.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_INDEX_ROWS_COLUMNS_H
#define TAPER_OPS_TENSOR_INDEX_ROWS_COLUMNS_H

static inline taper_status into_columns(taper_call *call, const rows *r, taper_into operation, const void *value)
{
    (void)call, (void)r, (void)operation, (void)value;
    return TAPER_DECLINED;
}

#endif
