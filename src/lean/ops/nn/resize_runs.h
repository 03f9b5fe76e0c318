// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/resize_runs.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_RESIZE_RUNS_H
#define TAPER_OPS_NN_RESIZE_RUNS_H

static inline bool has_long_run(const taper_resize_axis *axis)
{
    (void)axis;
    return false;
}

#endif
