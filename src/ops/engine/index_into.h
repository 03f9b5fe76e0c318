// SPDX-License-Identifier: BSD-2-Clause
// What the indexing operators share: combining an element into another, reading indices, walking several tensors.
#ifndef TAPER_OPS_INDEX_INTO_H
#define TAPER_OPS_INDEX_INTO_H

#include "ir/walk.h"
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
// The same of embeddings' arguments, in PyTorch's words for these: argument `at` of the function, by name.
TAPER_MUST_USE taper_status taper_check_indices(const taper_tensor *indices, size_t at, const char *argument,
                                                const char *function, taper_error *error);
inline int64_t taper_index_at(const taper_tensor *index, int64_t at) // at: in elements from its data
{
    return index->dtype == TAPER_I64 ? ((const int64_t *)taper_tensor_data(index))[at]
                                     : ((const int32_t *)taper_tensor_data(index))[at];
}

// A walk over the positions of a shape, last dimension fastest, with places (in elements) in up to three tensors.
typedef struct taper_index_walk {
    taper_walk walk;
    taper_run *run;
    uint32_t left; // elements until run is charged for the next ones
    int64_t count;
} taper_index_walk;

// Goes on while i < count: when the run is to end, count becomes 0. Shorter walks than TAPER_WALK_PIECE are not
// charged.
enum { TAPER_WALK_PIECE = 256 };
void taper_index_walk_start(taper_index_walk *walk, taper_run *run, size_t rank, const int64_t *sizes);
void taper_index_walk_charge(taper_index_walk *walk);
// Sides are added in order.
void taper_index_walk_add(taper_index_walk *walk, const int64_t *strides);
inline void taper_index_walk_next(taper_index_walk *walk)
{
    if (--walk->left == 0) {
        taper_index_walk_charge(walk);
    }
    (void)taper_walk_step(&walk->walk);
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
