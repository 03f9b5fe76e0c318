// SPDX-License-Identifier: BSD-2-Clause
// Part of index_rows.c: an index along the last of several dimensions.
#ifndef TAPER_OPS_TENSOR_INDEX_ROWS_COLUMNS_H
#define TAPER_OPS_TENSOR_INDEX_ROWS_COLUMNS_H

// Writes along the last dimension by a scatter with the same indices in each row. The source is a tensor, or one value
// of self's dtype. Returns TAPER_DECLINED if gather_rows.h does not support the case.
static taper_status into_columns(taper_call *call, const rows *r, taper_into operation, const void *value)
{
    const taper_tensor *x = r->self;
    if (x->rank < 2 || r->dim + 1u != x->rank || r->index->rank != 1 || taper_tensor_numel(x) == 0 ||
        (value == NULL &&
         (r->source->rank != x->rank || r->source->storage == x->storage || taper_tensor_numel(r->source) == 0))) {
        return TAPER_DECLINED;
    }
    taper_tensor index = taper_tensor_local(r->index);
    int64_t strides[TAPER_MAX_RANK], others[TAPER_MAX_RANK];
    index.rank = x->rank;
    for (size_t d = 0; d < x->rank; d++) {
        const bool last = d == r->dim;
        index.sizes[d] = last ? r->count : x->sizes[d];
        index.strides[d] = last ? r->index_step : 0;
        strides[d] = last ? 0 : x->strides[d];
        others[d] = value != NULL || (r->source->sizes[d] == 1 && index.sizes[d] != 1) ? 0 : r->source->strides[d];
    }
    const taper_gather columns = {.index = &index,
                                  .table = taper_tensor_mutable(r->self),
                                  .table_strides = strides,
                                  .size = r->size,
                                  .step = x->strides[r->dim],
                                  // The scatter only reads the source.
                                  .other = (char *)(uintptr_t)(value != NULL ? value : taper_tensor_data(r->source)),
                                  .other_strides = others,
                                  .item = taper_tensor_item(x),
                                  .scatter = true,
                                  .operation = operation,
                                  .dtype = (taper_dtype)x->dtype};
    bool bad;
    // Every index is checked before anything is written.
    for (int64_t i = 0; i < r->count && taper_run_step(call->run, i, 1); i++) {
        const int64_t at = taper_index_at(r->index, i * r->index_step);
        if (at < 0 || at >= r->size) {
            return TAPER_DECLINED;
        }
    }
    const taper_status status = taper_run_outcome(call->run, TAPER_OK);
    return status == TAPER_OK ? taper_gather_rows(call->run, &columns, &bad) : status;
}

#endif
