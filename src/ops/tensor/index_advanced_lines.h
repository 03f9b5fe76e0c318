// SPDX-License-Identifier: BSD-2-Clause
// Part of index_advanced.c: the elements of a line of the result that are gathered together.
#ifndef TAPER_OPS_TENSOR_INDEX_ADVANCED_LINES_H
#define TAPER_OPS_TENSOR_INDEX_ADVANCED_LINES_H

// Gathers each line of the result from one line of self. Returns true, with the outcome in *status, if it did the work.
// It needs the indexed dimensions to be the last ones, so that no block of dimensions follows them.
static bool gather_lines(taper_run *run, const index_plan *plan, const block *b, const taper_tensor *self, size_t item,
                         taper_tensor *result, taper_status *status)
{
    taper_tensor index = taper_tensor_local(plan->offsets);
    int64_t others[TAPER_MAX_RANK], tables[TAPER_MAX_RANK], step = 1;
    for (size_t d = plan->index_rank; d-- > 0;) {
        if (plan->index_sizes[d] != 1 && result->strides[plan->before + d] != step) {
            return false;
        }
        step *= plan->index_sizes[d];
    }
    if (plan->before + plan->indexed != plan->self.rank || b->rank == 0 || b->rank >= TAPER_MAX_RANK || b->count <= 0 ||
        plan->count <= 0) {
        return false;
    }
    for (size_t d = 0; d < b->rank; d++) {
        index.sizes[d] = b->sizes[d];
        index.strides[d] = 0;
        tables[d] = b->self[d];
        others[d] = b->other[d];
    }
    index.rank = (uint8_t)(b->rank + 1);
    index.sizes[b->rank] = plan->count;
    index.strides[b->rank] = others[b->rank] = 1;
    tables[b->rank] = 0;
    const taper_gather g = {.index = &index,
                            .table = (char *)(uintptr_t)taper_tensor_data(self),
                            .table_strides = tables,
                            .size = INT64_MAX, // the indices are offsets that are within bounds already
                            .step = 1,
                            .other = taper_tensor_mutable(result),
                            .other_strides = others,
                            .item = item};
    bool bad;
    *status = taper_gather_rows(run, &g, &bad);
    return *status != TAPER_DECLINED;
}

#endif
