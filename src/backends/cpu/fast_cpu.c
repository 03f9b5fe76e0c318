// SPDX-License-Identifier: BSD-2-Clause
// The CPU backend as the reference operators reach it: loops over elements on the threads of a run, and the table of
// routines.
#include "backends/cpu/fast_cpu.h"

#include "backends/cpu/cpu_backend.h"
#include "ops/list/op_features.h"

taper_status taper_cpu_range(taper_run *run, taper_range_task task, void *argument, size_t count, double floats)
{
    enum { GRAIN = 16384 }; // floats worth a thread's while
    return taper_run_range(run, task, argument, count, floats < GRAIN ? (size_t)(GRAIN / floats) : 1,
                           taper_cpu_floats_work((double)count * floats));
}

const taper_fast taper_cpu_fast = {
    .gemm = taper_cpu_gemm,
    .elementwise = taper_cpu_elementwise,
#if TAPER_ATTENDS
    .softmax = taper_cpu_softmax_rows,
    .layer_norm = taper_cpu_layer_norm_rows,
#endif
#if TAPER_ACTIVATES
    .activate = taper_cpu_activate,
#endif
    .channels = taper_cpu_channels,
    .planes = taper_cpu_planes,
#if TAPER_INTERPOLATES
    .bilinear = taper_cpu_bilinear,
#endif
#if TAPER_INTERPOLATES && TAPER_QUANTIZES
    .bilinear_u8 = taper_cpu_bilinear_u8,
#endif
#if TAPER_QUANTIZES_STATES
    .linear_dynamic = taper_cpu_linear_dynamic,
#endif
};
