// SPDX-License-Identifier: BSD-2-Clause
// Going through the indices of a box.
#include "ir/walk.h"

void taper_walk_over(taper_walk *walk, size_t rank, const int64_t *sizes, size_t without, const int64_t *a,
                     const int64_t *b)
{
    taper_walk_begin(walk, b != NULL ? 2 : 1);
    for (size_t d = rank; d-- > 0;) {
        if (d != without) {
            int64_t *const steps = taper_walk_add(walk, sizes[d]);
            steps[0] = a[d];
            steps[1] = b != NULL ? b[d] : 0;
        }
    }
}

bool taper_walk_next(taper_walk *walk)
{
    for (size_t d = 0; d < walk->rank; d++) {
        taper_walk_dim *const dim = &walk->dims[d];
        const bool more = ++dim->at < dim->size;
        for (size_t i = 0; i < walk->sides; i++) {
            walk->at[i] += more ? dim->steps[i] : -dim->steps[i] * (dim->size - 1);
        }
        if (more) {
            return true;
        }
        dim->at = 0;
    }
    return false;
}
