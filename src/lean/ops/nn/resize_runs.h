// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/nn/resize_runs.h: small builds omit this code.
#ifndef TAPER_OPS_NN_RESIZE_RUNS_H
#define TAPER_OPS_NN_RESIZE_RUNS_H

static inline bool has_long_run(const taper_resize_axis *axis)
{
    (void)axis;
    return false;
}

#endif
