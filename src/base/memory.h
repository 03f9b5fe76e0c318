// SPDX-License-Identifier: BSD-2-Clause
// Memory from the host's allocator. No other code of the library calls malloc, except status.c and the default
// allocator below.
#ifndef TAPER_BASE_MEMORY_H
#define TAPER_BASE_MEMORY_H

#include "base/checked.h"
#include "base/status.h"

// The default allocator, which calls realloc and free.
extern const taper_allocator taper_allocator_system;

// These functions return NULL if the allocator fails, and if the size is 0. A block must be freed with the size it was
// allocated with.
void *taper_alloc(const taper_allocator *allocator, size_t size);
void *taper_alloc_zeroed(const taper_allocator *allocator, size_t size);
void *taper_realloc(const taper_allocator *allocator, void *ptr, size_t old_size, size_t new_size);
void taper_free(const taper_allocator *allocator, void *ptr, size_t size); // ptr may be NULL

// Enlarges an array for at least `want` items and updates *items and *capacity together. Growth is geometric. On
// failure the array is unchanged.
TAPER_MUST_USE taper_status taper_grow(const taper_allocator *allocator, void **items, size_t *capacity, size_t want,
                                       size_t item_size, taper_error *error);
#define TAPER_GROW(allocator, array, capacity, want, error)                                                            \
    taper_grow((allocator), (void **)&(array), &(capacity), (want), sizeof *(array), (error))

#endif
