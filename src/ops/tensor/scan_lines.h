// SPDX-License-Identifier: BSD-2-Clause
// Running sums, products and extremes of tensors that need no conversion, on all threads: floats, whose sums and
// products accumulate in double, and 64-bit integers. Also log-sums (logarithms of running sums of exponentials) of
// many lines.
#ifndef TAPER_OPS_SCAN_LINES_H
#define TAPER_OPS_SCAN_LINES_H

#include "ops/engine/reduce.h"

typedef enum taper_scan {
    TAPER_SCAN_SUM,
    TAPER_SCAN_PROD,
    TAPER_SCAN_LOGSUM,
    TAPER_SCAN_MAX,
    TAPER_SCAN_MIN
} taper_scan;

// Computes the scan along dim. out has x's sizes. For extremes, indices is int64 and has the strides of out; otherwise
// it is NULL. Returns TAPER_DECLINED for other dtypes and for log-sums of few lines.
TAPER_MUST_USE taper_status taper_scan_lines(taper_run *run, taper_scan kind, size_t dim, const taper_tensor *x,
                                             taper_tensor *out, taper_tensor *indices);

#endif
