// SPDX-License-Identifier: BSD-2-Clause
// Visits all indices of a multi-dimensional array.
#include "ir/walk.h"

// The external definitions of inline functions, for calls that a compiler does not inline.
extern void taper_walk_begin(taper_walk *walk, size_t sides);
extern int64_t *taper_walk_add(taper_walk *walk, int64_t size);
extern bool taper_walk_step(taper_walk *walk);

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
    return taper_walk_step(walk);
}
