// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/softmax_shared.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_SOFTMAX_SHARED_H
#define TAPER_OPS_NN_SOFTMAX_SHARED_H

static inline taper_status run_short(taper_run *run, soft_job *job, const taper_lines *lines)
{
    (void)run, (void)job, (void)lines;
    return TAPER_DECLINED;
}

static inline taper_status run_dense(taper_call *call, taper_tensor *x, size_t dim, taper_tensor *out,
                                     taper_softmax_kind kind)
{
    (void)call, (void)x, (void)dim, (void)out, (void)kind;
    return TAPER_DECLINED;
}

#endif
