// SPDX-License-Identifier: BSD-2-Clause
// Going through the indices of a box, one after the other, with the places of several operands moving along in strides.
#ifndef TAPER_IR_WALK_H
#define TAPER_IR_WALK_H

#include "ir/tensor_def.h"

enum { TAPER_WALK_SIDES = 5, TAPER_WALK_RANK = 2 * TAPER_MAX_RANK };

typedef struct taper_walk_dim {
    int64_t size, at; // at: the index
    int64_t steps[TAPER_WALK_SIDES];
} taper_walk_dim;

// Dimensions as they were added, the fastest first; steps and places are in the caller's unit. No size is 0.
typedef struct taper_walk {
    size_t rank, sides;
    int64_t at[TAPER_WALK_SIDES]; // the place of each side, 0 at first
    taper_walk_dim dims[TAPER_WALK_RANK];
} taper_walk;

inline void taper_walk_begin(taper_walk *walk, size_t sides)
{
    walk->rank = 0;
    walk->sides = sides;
    for (size_t i = 0; i < sides; i++) {
        walk->at[i] = 0;
    }
}

// Its steps are the caller's to fill in.
inline int64_t *taper_walk_add(taper_walk *walk, int64_t size)
{
    taper_walk_dim *const dim = &walk->dims[walk->rank++];
    dim->size = size;
    dim->at = 0;
    return dim->steps;
}

// The dimensions [0, rank) with these sizes, the last one the fastest, but for `without` (SIZE_MAX: all). b NULL: one
// side.
void taper_walk_over(taper_walk *walk, size_t rank, const int64_t *sizes, size_t without, const int64_t *a,
                     const int64_t *b);

// The next index. False: that was the last; the walk is at its begin again.
bool taper_walk_next(taper_walk *walk);
// The same in line, for loops over single elements.
inline bool taper_walk_step(taper_walk *walk)
{
    for (size_t d = 0; d < walk->rank; d++) {
        taper_walk_dim *const dim = &walk->dims[d];
        if (++dim->at < dim->size) {
            for (size_t i = 0; i < walk->sides; i++) {
                walk->at[i] += dim->steps[i];
            }
            return true;
        }
        for (size_t i = 0; i < walk->sides; i++) {
            walk->at[i] -= dim->steps[i] * (dim->size - 1);
        }
        dim->at = 0;
    }
    return false;
}

#endif
