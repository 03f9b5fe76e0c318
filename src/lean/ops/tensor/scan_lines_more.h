// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/scan_lines_more.h in small builds, which omit its code.
#ifndef TAPER_OPS_TENSOR_SCAN_LINES_MORE_H
#define TAPER_OPS_TENSOR_SCAN_LINES_MORE_H

static inline scan_function *find_more(taper_scan kind, taper_dtype x, taper_dtype out)
{
    (void)kind, (void)x, (void)out;
    return NULL;
}

static inline taper_status run_logsum(taper_run *run, size_t dim, scan_job *job, const taper_tensor *x,
                                      const taper_tensor *out)
{
    (void)run, (void)dim, (void)job, (void)x, (void)out;
    return TAPER_DECLINED;
}

#endif
