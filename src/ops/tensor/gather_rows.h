// SPDX-License-Identifier: BSD-2-Clause
// The inner loops of gather and scatter: rows along the last dimension of the index.
#ifndef TAPER_OPS_GATHER_ROWS_H
#define TAPER_OPS_GATHER_ROWS_H

#include "ops/engine/index_into.h"

// Elements of `table`, which are picked along one dimension, and their destination (gather) or source (scatter) in
// `other`. All strides are in elements, one per dimension of the index.
typedef struct taper_gather {
    const taper_tensor *index;
    char *table;
    const int64_t *table_strides; // strides of the table; 0 along the picked dimension
    int64_t size, step;           // size and stride of the picked dimension in the table
    char *other;
    const int64_t *other_strides;
    size_t item;
    bool scatter;
    taper_into operation; // operation of a scatter, on elements of dtype
    taper_dtype dtype;
} taper_gather;

// Moves the elements. *bad is true if an index is out of bounds; then only the elements before that index are moved.
// Returns TAPER_DECLINED for indices that are not int64 and for rare sizes of elements and operations. scatter handles
// row after row, so the last of several values for one element remains.
TAPER_MUST_USE taper_status taper_gather_rows(taper_run *run, const taper_gather *gather, bool *bad);

#endif
