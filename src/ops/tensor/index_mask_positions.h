// SPDX-License-Identifier: BSD-2-Clause
// Part of index_mask.c: elements at flat positions are gathered or scattered together if all positions are within
// bounds.
#ifndef TAPER_OPS_TENSOR_INDEX_MASK_POSITIONS_H
#define TAPER_OPS_TENSOR_INDEX_MASK_POSITIONS_H

// Copies elements of a contiguous tensor at these positions to `other`, which is contiguous. If `put` is set, it
// instead applies the operation to these elements and to the elements of `other`. *done is false, with nothing done, if
// a position is negative or out of bounds.
static taper_status move_positions(taper_run *run, taper_tensor *x, const taper_tensor *index, char *table, char *other,
                                   bool put, taper_into operation, bool *done)
{
    *done = false;
    const int64_t count = taper_tensor_numel(index), size = taper_tensor_numel(x);
    if (count == 0 || !taper_tensor_is_contiguous(x) || !taper_tensor_is_contiguous(index)) {
        return TAPER_OK;
    }
    const int64_t *at = taper_tensor_data(index);
    bool outside = false;
    TAPER_TRY(taper_run_spend(run, (uint64_t)count));
    for (int64_t i = 0; i < count; i++) {
        outside |= (uint64_t)at[i] >= (uint64_t)size;
    }
    if (outside) {
        return TAPER_OK;
    }
    const int64_t none = 0, one = 1;
    taper_tensor line = taper_tensor_local(index);
    line.rank = 1;
    line.sizes[0] = count;
    line.strides[0] = 1;
    const taper_gather rows = {.index = &line,
                               .table = table,
                               .table_strides = &none,
                               .size = size,
                               .step = 1,
                               .other = other,
                               .other_strides = &one,
                               .item = taper_tensor_item(x),
                               .scatter = put,
                               .operation = operation,
                               .dtype = (taper_dtype)x->dtype};
    bool bad;
    const taper_status status = taper_gather_rows(run, &rows, &bad);
    *done = status != TAPER_DECLINED;
    return *done ? status : TAPER_OK;
}

#endif
