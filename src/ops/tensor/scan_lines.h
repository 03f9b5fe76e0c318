// SPDX-License-Identifier: BSD-2-Clause
// Running sums, products and extremes of tensors that need no conversion: floats (sums and products add up in double)
// and 64-bit integers, and log-sums of many lines, on all threads.
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

// out has x's sizes; indices (int64, the strides of out): of extremes, else NULL. Declines other dtypes, and
// log-sums of few lines.
TAPER_MUST_USE taper_status taper_scan_lines(taper_run *run, taper_scan kind, size_t dim, const taper_tensor *x,
                                             taper_tensor *out, taper_tensor *indices);

#endif
