// SPDX-License-Identifier: BSD-2-Clause
// Part of scan.c: lines of one element, which are copied.
#ifndef TAPER_OPS_TENSOR_SCAN_ONES_H
#define TAPER_OPS_TENSOR_SCAN_ONES_H

// Copies lines of one element. Returns false, with nothing done, if lines have more than one element.
static bool scan_ones(taper_run *run, taper_scan kind, const taper_tensor *x, size_t dim, taper_tensor *out)
{
    if (x->rank == 0 || x->sizes[dim] != 1 || out->dtype != x->dtype ||
        (x->dtype != TAPER_F32 && x->dtype != TAPER_F64 && x->dtype != TAPER_I64)) {
        return false;
    }
    taper_move(run, taper_tensor_item(x), x->rank, x->sizes, taper_tensor_mutable(out), out->strides,
               taper_tensor_data(x), x->strides);
    const int64_t count = kind == TAPER_SCAN_SUM ? taper_tensor_numel(out) : 0;
    float *const floats = taper_tensor_mutable(out);
    double *const doubles = taper_tensor_mutable(out);
    for (int64_t i = 0; i < count && x->dtype == TAPER_F32; i++) {
        floats[i] += 0.0f; // a sum starts with 0, so -0 becomes 0
    }
    for (int64_t i = 0; i < count && x->dtype == TAPER_F64; i++) {
        doubles[i] += 0.0;
    }
    return true;
}

#endif
