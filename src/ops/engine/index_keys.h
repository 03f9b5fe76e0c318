// SPDX-License-Identifier: BSD-2-Clause
// Sort keys: every element of a real dtype as an int64 that orders as the element does, and sorted orders of them.
#ifndef TAPER_OPS_INDEX_KEYS_H
#define TAPER_OPS_INDEX_KEYS_H

#include "ops/engine/index_into.h"

// NaN sorts behind everything; -0 and 0 are equal.
int64_t taper_key_of(const taper_scalar *scalar);
#define TAPER_KEY_NAN INT64_MAX
// The keys of x's elements in order, as if x had dtype `as` first: an int64 vector.
TAPER_MUST_USE taper_status taper_index_keys(taper_run *run, const taper_tensor *x, taper_dtype as,
                                             taper_tensor **keys);
// Sorts positions [0, count) of key rows of `width` numbers (row r at keys[r * width]), stably. order and scratch hold
// count.
TAPER_MUST_USE taper_status taper_keys_sort(taper_run *run, const int64_t *keys, int64_t width, int64_t count,
                                            int64_t *order, int64_t *scratch);

#endif
