// SPDX-License-Identifier: BSD-2-Clause
// The table of the CPU's kernels, one entry for each operator of the operator list.
#include "backends/cpu/cpu_kernels.h"

#include "ops/list/op_rows.h"
#include "ops/list/registry.h"

#define CPU(row, kernel) taper_status kernel(taper_call *call);
#include "backends/cpu/cpu_list.inc"
#undef CPU

static const struct {
    uint16_t row;
    taper_kernel kernel;
} kernels[] = {
#define CPU(id, kernel) TAPER_OP_IF(id, {TAPER_ROW_##id, kernel}, )
#include "backends/cpu/cpu_list.inc"
#undef CPU
    {TAPER_ROW_COUNT, NULL},
};

taper_kernel taper_cpu_kernel(taper_device *device, const taper_op *op)
{
    (void)device; // the kernels use the CPU of the run, so the device is not needed
    if (taper_row_is_registered(op)) {
        return NULL;
    }
    const size_t row = (size_t)(op - taper_ops);
    for (size_t i = 0; kernels[i].kernel != NULL; i++) {
        if (kernels[i].row == row) {
            return kernels[i].kernel;
        }
    }
    return NULL;
}
