// SPDX-License-Identifier: BSD-2-Clause
// What the indexing operators share: combining an element into another, reading indices, walking several tensors.
#ifndef TAPER_OPS_INDEX_INTO_H
#define TAPER_OPS_INDEX_INTO_H

#include "ops/engine/view_shape.h"

typedef enum taper_into {
    TAPER_INTO_SET,
    TAPER_INTO_ADD,
    TAPER_INTO_MULTIPLY,
    TAPER_INTO_MAXIMUM, // a NaN wins
    TAPER_INTO_MINIMUM
} taper_into;

// to[i * to_step] = to[…] (op) from[i * from_step]; steps in bytes. Elements of one dtype.
typedef void (*taper_into_function)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count);
// NULL where the dtype has no such operation.
taper_into_function taper_into_find(taper_dtype dtype, taper_into operation);
TAPER_MUST_USE taper_status taper_into_get(taper_dtype dtype, taper_into operation, taper_into_function *function,
                                           taper_error *error);
// function over a line of any length, in pieces that are charged.
void taper_into_line(taper_run *run, taper_into_function function, char *to, int64_t to_step, const char *from,
                     int64_t from_step, int64_t length);
// Over tensors of the same sizes (from may be expanded) and dtype.
void taper_into_all(taper_run *run, taper_into_function function, taper_tensor *to, const taper_tensor *from);

// An index tensor: int64 or int32.
TAPER_MUST_USE taper_status taper_check_index(const taper_tensor *index, bool allow_int32, const char *name,
                                              taper_error *error);
static inline int64_t taper_index_at(const taper_tensor *index, int64_t at) // at: in elements from its data
{
    return index->dtype == TAPER_I64 ? ((const int64_t *)taper_tensor_data(index))[at]
                                     : ((const int32_t *)taper_tensor_data(index))[at];
}

// Goes through the positions of a shape, last dimension fastest, with offsets (in elements) into up to three tensors.
enum { TAPER_WALKERS = 3 };
typedef struct taper_walk {
    taper_run *run;
    uint32_t left; // elements until run is charged for the next ones
    size_t rank;
    int64_t count;
    int64_t sizes[TAPER_MAX_RANK], at[TAPER_MAX_RANK];
    int64_t strides[TAPER_WALKERS][TAPER_MAX_RANK];
    int64_t offset[TAPER_WALKERS];
} taper_walk;

// Goes on while i < count: when the run is to end, count becomes 0. Shorter walks than TAPER_WALK_PIECE are not
// charged.
enum { TAPER_WALK_PIECE = 256 };
void taper_walk_start(taper_walk *walk, taper_run *run, size_t rank, const int64_t *sizes);
void taper_walk_charge(taper_walk *walk);
static inline void taper_walk_add(taper_walk *walk, size_t which, const int64_t *strides)
{
    for (size_t d = 0; d < walk->rank; d++) {
        walk->strides[which][d] = walk->sizes[d] > 1 ? strides[d] : 0; // as taper_tensor_steps
    }
}
static inline void taper_walk_next(taper_walk *walk)
{
    if (--walk->left == 0) {
        taper_walk_charge(walk);
    }
    for (size_t d = walk->rank; d-- > 0;) {
        for (size_t i = 0; i < TAPER_WALKERS; i++) {
            walk->offset[i] += walk->strides[i][d];
        }
        if (++walk->at[d] < walk->sizes[d]) {
            return;
        }
        for (size_t i = 0; i < TAPER_WALKERS; i++) {
            walk->offset[i] -= walk->strides[i][d] * walk->sizes[d];
        }
        walk->at[d] = 0;
    }
}

// int64 scratch of count elements, as a tensor to be dropped.
TAPER_MUST_USE taper_status taper_index_scratch(taper_run *run, int64_t count, taper_tensor **scratch);
// The positions where mask, any dtype, is not zero: int64 [n, rank], column after column.
TAPER_MUST_USE taper_status taper_index_nonzero(taper_run *run, const taper_tensor *mask, taper_tensor **positions);
// Whether the element is not zero (NaN is not).
bool taper_element_is_nonzero(taper_dtype dtype, const void *p);
// x.flatten() as a contiguous tensor.
TAPER_MUST_USE taper_status taper_index_flat(taper_run *run, taper_tensor *x, taper_tensor **flat);

#endif
