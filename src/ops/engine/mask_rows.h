// SPDX-License-Identifier: BSD-2-Clause
// Which elements are not zero (NaN is not), many at a time.
#ifndef TAPER_OPS_MASK_ROWS_H
#define TAPER_OPS_MASK_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "ir/tensor_def.h"

enum { TAPER_MASK_PIECE = 256 };

// Puts the positions of those of n elements, at most TAPER_MASK_PIECE, that lie one after the other into `at`, and
// returns how many they are. `at` has room for TAPER_MASK_PIECE.
typedef size_t taper_mask_pick(const void *elements, size_t n, uint32_t *at);
// NULL: there is none for the dtype.
taper_mask_pick *taper_mask_pick_find(taper_dtype dtype);
// How many of n elements are not zero. For dtypes that have a pick.
size_t taper_mask_count(taper_dtype dtype, const void *elements, size_t n);

#endif
