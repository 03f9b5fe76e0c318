// SPDX-License-Identifier: BSD-2-Clause
// Functions that the indexing operators share: combining source elements with destination elements, reading index
// tensors, and walks over several tensors.
#ifndef TAPER_OPS_INDEX_INTO_H
#define TAPER_OPS_INDEX_INTO_H

#include "ir/walk.h"
#include "ops/engine/view_shape.h"

typedef enum taper_into {
    TAPER_INTO_SET,
    TAPER_INTO_ADD,
    TAPER_INTO_MULTIPLY,
    TAPER_INTO_MAXIMUM, // a NaN counts as larger than every number
    TAPER_INTO_MINIMUM
} taper_into;

// Computes to[i * to_step] = to[i * to_step] (operation) from[i * from_step] for `count` elements of one dtype. Steps
// are in bytes.
typedef void (*taper_into_function)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count);
// Returns the function for the operation, or NULL if the dtype does not support the operation.
taper_into_function taper_into_find(taper_dtype dtype, taper_into operation);
TAPER_MUST_USE taper_status taper_into_get(taper_dtype dtype, taper_into operation, taper_into_function *function,
                                           taper_error *error);
// Applies the function to a line of any length, in pieces that are charged to the run.
void taper_into_line(taper_run *run, taper_into_function function, char *to, int64_t to_step, const char *from,
                     int64_t from_step, int64_t length);
// Applies the function to all elements of two tensors with equal sizes and dtype. `from` may be expanded.
void taper_into_all(taper_run *run, taper_into_function function, taper_tensor *to, const taper_tensor *from);

// Fails unless the index tensor has dtype int64, or int32 if that is allowed.
TAPER_MUST_USE taper_status taper_check_index(const taper_tensor *index, bool allow_int32, const char *name,
                                              taper_error *error);
// Fails as taper_check_index does, with PyTorch's error text for an argument of an embedding operator: `at` and
// `argument` are its position and name.
TAPER_MUST_USE taper_status taper_check_indices(const taper_tensor *indices, size_t at, const char *argument,
                                                const char *function, taper_error *error);
// Returns element `at`, counted from the start of the tensor's data.
inline int64_t taper_index_at(const taper_tensor *index, int64_t at)
{
    return index->dtype == TAPER_I64 ? ((const int64_t *)taper_tensor_data(index))[at]
                                     : ((const int32_t *)taper_tensor_data(index))[at];
}

// A walk over the indices of a shape, the last dimension fastest. For up to three tensors it computes the offset of the
// current element, in elements.
typedef struct taper_index_walk {
    taper_walk walk;
    taper_run *run;
    uint32_t left; // number of elements until the run is charged again
    int64_t count;
} taper_index_walk;

// Starts a walk. The caller loops while i < count. When the run must end, the walk sets count to 0. Walks shorter than
// TAPER_WALK_PIECE elements are not charged.
enum { TAPER_WALK_PIECE = 256 };
void taper_index_walk_start(taper_index_walk *walk, taper_run *run, size_t rank, const int64_t *sizes);
void taper_index_walk_charge(taper_index_walk *walk);
// Adds a tensor to the walk. The tensor of the n-th call, counted from 0, has the walk's offset n.
void taper_index_walk_add(taper_index_walk *walk, const int64_t *strides);
inline void taper_index_walk_next(taper_index_walk *walk)
{
    if (--walk->left == 0) {
        taper_index_walk_charge(walk);
    }
    (void)taper_walk_step(&walk->walk);
}

// Makes an int64 tensor of `count` uninitialized elements. The caller drops it.
TAPER_MUST_USE taper_status taper_index_scratch(taper_run *run, int64_t count, taper_tensor **scratch);
// Makes the int64 tensor [n, rank] of the positions at which mask, of any dtype, is not zero. The tensor is stored
// column by column, and the caller owns it.
TAPER_MUST_USE taper_status taper_index_nonzero(taper_run *run, const taper_tensor *mask, taper_tensor **positions);
// Returns true if the element is not zero. A NaN is not zero.
bool taper_element_is_nonzero(taper_dtype dtype, const void *p);
// Returns x.flatten() as a contiguous tensor in *flat, which the caller owns.
TAPER_MUST_USE taper_status taper_index_flat(taper_run *run, taper_tensor *x, taper_tensor **flat);

#endif
