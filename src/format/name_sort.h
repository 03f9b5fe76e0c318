// SPDX-License-Identifier: BSD-2-Clause
// Sorting, and lookup of names by bisection. A file can choose names that make a hash table slow, but it cannot make
// these functions slow.
#ifndef TAPER_FORMAT_NAME_SORT_H
#define TAPER_FORMAT_NAME_SORT_H

#include "base/memory.h"

// Sorts by a stable merge sort. `compare` returns a negative number, zero or a positive number.
typedef int (*taper_compare)(const void *a, const void *b);
TAPER_MUST_USE taper_status taper_sort(const taper_allocator *allocator, void *items, size_t count, size_t item_size,
                                       taper_compare compare, taper_error *error);

typedef struct taper_name {
    const char *text; // text, not NUL-terminated
    size_t length;
    size_t value;
} taper_name;

TAPER_MUST_USE taper_status taper_names_sort(const taper_allocator *allocator, taper_name *names, size_t count,
                                             taper_error *error);
// Finds a name. If several names are equal, finds the one that was last before sorting.
bool taper_names_find(const taper_name *names, size_t count, const char *text, size_t length, size_t *value);

#endif
