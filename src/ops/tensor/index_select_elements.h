// SPDX-License-Identifier: BSD-2-Clause
// Part of index_select.c: single elements, which are gathered with the same indices in each row.
#ifndef TAPER_OPS_TENSOR_INDEX_SELECT_ELEMENTS_H
#define TAPER_OPS_TENSOR_INDEX_SELECT_ELEMENTS_H

// Gathers the elements. The caller has checked that each index is within bounds.
static taper_status copy_elements(taper_run *run, const taper_tensor *index, int64_t index_step, int64_t outer,
                                  int64_t count, int64_t size, const char *from, char *to, size_t item)
{
    taper_tensor rows = taper_tensor_local(index);
    const int64_t table_strides[] = {size, 0}, other_strides[] = {count, 1};
    bool bad;
    rows.rank = 2;
    rows.sizes[0] = outer;
    rows.sizes[1] = count;
    rows.strides[0] = 0;
    rows.strides[1] = index_step;
    const taper_gather g = {.index = &rows,
                            .table = (char *)(uintptr_t)from,
                            .table_strides = table_strides,
                            .size = size,
                            .step = 1,
                            .other = to,
                            .other_strides = other_strides,
                            .item = item};
    return taper_gather_rows(run, &g, &bad);
}

#endif
