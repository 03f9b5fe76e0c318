// SPDX-License-Identifier: BSD-2-Clause
// Visits all indices of a multi-dimensional array, one after the other. The positions of several operands advance by
// their own strides.
#ifndef TAPER_IR_WALK_H
#define TAPER_IR_WALK_H

#include "ir/tensor_def.h"

enum { TAPER_WALK_SIDES = 5, TAPER_WALK_RANK = 2 * TAPER_MAX_RANK };

typedef struct taper_walk_dim {
    int64_t size, at; // size of the dimension, and current index
    int64_t steps[TAPER_WALK_SIDES];
} taper_walk_dim;

// The dimensions in the order in which they were added; the index of the first one changes fastest. Steps and positions
// are in a unit that the caller chooses. No size is 0.
typedef struct taper_walk {
    size_t rank, sides;
    int64_t at[TAPER_WALK_SIDES]; // position of each operand, 0 at first
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

// Adds a dimension and returns the array of its steps, one for each operand, which the caller must set.
inline int64_t *taper_walk_add(taper_walk *walk, int64_t size)
{
    taper_walk_dim *const dim = &walk->dims[walk->rank++];
    dim->size = size;
    dim->at = 0;
    return dim->steps;
}

// Adds the dimensions 0 to rank - 1 with these sizes; the index of the last dimension changes fastest. The dimension
// `without` is skipped (SIZE_MAX for none). a, b: strides of the two operands; b is NULL if there is only one operand.
void taper_walk_over(taper_walk *walk, size_t rank, const int64_t *sizes, size_t without, const int64_t *a,
                     const int64_t *b);

// Moves to the next index. After the last index, returns false, and the next index is the first one again.
bool taper_walk_next(taper_walk *walk);
// Does the same as taper_walk_next, but is inline, for loops over single elements.
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
