// SPDX-License-Identifier: BSD-2-Clause
// For lines of one element the order, the extremes and the positions are known without a computation.
#include "ops/engine/lines_of_one.h"

bool taper_lines_of_one(taper_run *run, const taper_tensor *x, size_t dim, bool keep, taper_tensor *values,
                        taper_tensor *positions)
{
    if (x->rank == 0 || x->sizes[dim] != 1) {
        return false;
    }
    const size_t count = (size_t)taper_tensor_numel(positions);
    if (!taper_run_goes_on(run, count)) {
        return true;
    }
    memset(taper_tensor_mutable(positions), 0, count * sizeof(int64_t));
    int64_t strides[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t i = 0; i < x->rank; i++) {
        if (i != dim || keep) {
            strides[rank++] = x->strides[i];
        }
    }
    if (values != NULL) {
        taper_move(run, taper_tensor_item(x), rank, values->sizes, taper_tensor_mutable(values), values->strides,
                   taper_tensor_data(x), strides);
    }
    return true;
}
