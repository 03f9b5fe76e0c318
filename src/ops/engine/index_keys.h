// SPDX-License-Identifier: BSD-2-Clause
// Makes and sorts keys. The key of an element of a real dtype is an int64, and keys have the same order as their
// elements.
#ifndef TAPER_OPS_INDEX_KEYS_H
#define TAPER_OPS_INDEX_KEYS_H

#include "ops/engine/index_into.h"

// Returns the key of NaN for dtypes that have a NaN. This key is larger than every other key. -0 and 0 have equal keys.
int64_t taper_key_of_nan(taper_dtype dtype);
// Returns the keys of x's elements, in order, after a conversion of x to `as`. *keys is an int64 vector that must not
// be written, because it may be x.
TAPER_MUST_USE taper_status taper_index_keys(taper_run *run, taper_tensor *x, taper_dtype as, taper_tensor **keys);
// Converts x to a contiguous tensor of dtype, in *converted. The result may be x itself.
TAPER_MUST_USE taper_status taper_index_converted(taper_run *run, taper_tensor *x, taper_dtype dtype,
                                                  taper_tensor **converted);
// Finds the smallest and the largest of `count` keys. count must not be 0.
TAPER_MUST_USE taper_status taper_keys_range(taper_run *run, const int64_t *keys, int64_t count, int64_t *least,
                                             int64_t *largest);
// Sorts the positions 0 to count - 1 of rows of keys, stably, and writes them to order, which has space for `count`.
// Row r has `width` keys, from keys[r * width] on.
TAPER_MUST_USE taper_status taper_keys_sort(taper_run *run, const int64_t *keys, int64_t width, int64_t count,
                                            int64_t *order);

#endif
