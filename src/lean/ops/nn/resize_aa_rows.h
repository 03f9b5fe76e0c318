// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/resize_aa_rows.h in small builds, which omit its code.
#ifndef TAPER_OPS_NN_RESIZE_AA_ROWS_H
#define TAPER_OPS_NN_RESIZE_AA_ROWS_H

static inline int64_t aa_many(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const float *in,
                              float *scratch)
{
    (void)run, (void)axes, (void)x, (void)in, (void)scratch;
    return 0;
}

#endif
