// SPDX-License-Identifier: BSD-2-Clause
// Finds the elements that are not zero, many at a time. A NaN is not zero.
#ifndef TAPER_OPS_MASK_ROWS_H
#define TAPER_OPS_MASK_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "ir/tensor_def.h"

enum { TAPER_MASK_PIECE = 256 };

// Writes the positions of the nonzero elements among n contiguous elements to `at`, and returns their number. n is at
// most TAPER_MASK_PIECE, and `at` has space for TAPER_MASK_PIECE positions.
typedef size_t taper_mask_pick(const void *elements, size_t n, uint32_t *at);
// Returns the function for the dtype, or NULL if there is none.
taper_mask_pick *taper_mask_pick_find(taper_dtype dtype);
// Returns how many of n elements are not zero. taper_mask_pick_find must have a function for the dtype.
size_t taper_mask_count(taper_dtype dtype, const void *elements, size_t n);

#endif
