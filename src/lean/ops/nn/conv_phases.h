// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/conv_phases.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_CONV_PHASES_H
#define TAPER_OPS_NN_CONV_PHASES_H

static inline bool phases_fit(const conv_job *job, bool transposed, bool *points)
{
    (void)job, (void)transposed, (void)points;
    return false;
}

static inline taper_status run_phases(const conv_job *job, bool points)
{
    (void)job, (void)points;
    return TAPER_DECLINED;
}

#endif
