// SPDX-License-Identifier: BSD-2-Clause
// Sort keys: every element of a real dtype as an int64 that orders as the element does, and sorted orders of them.
#ifndef TAPER_OPS_INDEX_KEYS_H
#define TAPER_OPS_INDEX_KEYS_H

#include "ops/engine/index_into.h"

// The key of NaN, which sorts behind everything, in dtypes that have one; -0 and 0 have one key.
int64_t taper_key_of_nan(taper_dtype dtype);
// The keys of x's elements in order, as if x had dtype `as` first: an int64 vector, not to be written (it may be x).
TAPER_MUST_USE taper_status taper_index_keys(taper_run *run, taper_tensor *x, taper_dtype as, taper_tensor **keys);
// x converted to dtype, contiguous.
TAPER_MUST_USE taper_status taper_index_converted(taper_run *run, taper_tensor *x, taper_dtype dtype,
                                                  taper_tensor **converted);
// The least and the largest of count > 0 keys.
TAPER_MUST_USE taper_status taper_keys_range(taper_run *run, const int64_t *keys, int64_t count, int64_t *least,
                                             int64_t *largest);
// Sorts positions [0, count) of key rows of `width` numbers (row r at keys[r * width]), stably. order holds count.
TAPER_MUST_USE taper_status taper_keys_sort(taper_run *run, const int64_t *keys, int64_t width, int64_t count,
                                            int64_t *order);

#endif
