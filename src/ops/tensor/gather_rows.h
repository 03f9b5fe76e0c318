// SPDX-License-Identifier: BSD-2-Clause
// The inner loops of gather and scatter: rows of the last dimension of the index.
#ifndef TAPER_OPS_GATHER_ROWS_H
#define TAPER_OPS_GATHER_ROWS_H

#include "ops/engine/index_into.h"

// Elements of `table`, picked along a dimension, and those that they go to (gather) or come from (scatter). All strides
// are in elements, by the dimensions of the index.
typedef struct taper_gather {
    const taper_tensor *index;
    char *table;
    const int64_t *table_strides; // 0 along the dimension
    int64_t size, step;           // of the dimension in the table
    char *other;
    const int64_t *other_strides;
    size_t item;
    bool scatter;
    taper_into operation; // of scatter, on elements of dtype
    taper_dtype dtype;
} taper_gather;

// *bad: an index that is out of bounds was met; what was moved until then is moved. Declines indices that are not int64
// and rare sizes of elements and operations. scatter goes row after row, so that the last of several values stays.
TAPER_MUST_USE taper_status taper_gather_rows(taper_run *run, const taper_gather *gather, bool *bad);

#endif
