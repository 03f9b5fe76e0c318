// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/index_select_elements.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_INDEX_SELECT_ELEMENTS_H
#define TAPER_OPS_TENSOR_INDEX_SELECT_ELEMENTS_H

static inline taper_status copy_elements(taper_run *run, const taper_tensor *index, int64_t index_step, int64_t outer,
                                         int64_t count, int64_t size, const char *from, char *to, size_t item)
{
    (void)run, (void)index, (void)index_step, (void)outer, (void)count, (void)size, (void)from, (void)to, (void)item;
    return TAPER_DECLINED;
}

#endif
