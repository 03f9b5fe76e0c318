// SPDX-License-Identifier: BSD-2-Clause
// Memory from the host's allocator. Nothing else in src/ calls malloc (status.c and the fallback
// below excepted).
#ifndef TAPER_BASE_MEMORY_H
#define TAPER_BASE_MEMORY_H

#include "base/checked.h"
#include "base/status.h"

// malloc, realloc and free.
extern const taper_allocator taper_allocator_system;

// NULL when it cannot. size 0 gives NULL.
void *taper_alloc(const taper_allocator *allocator, size_t size);
void *taper_alloc_zeroed(const taper_allocator *allocator, size_t size);
void *taper_realloc(const taper_allocator *allocator, void *ptr, size_t old_size, size_t new_size);
void taper_free(const taper_allocator *allocator, void *ptr, size_t size); // ptr NULL is fine

// Makes room for at least want items; capacity and items are updated together. Growth is geometric.
TAPER_MUST_USE taper_status taper_grow(const taper_allocator *allocator, void **items, size_t *capacity, size_t want,
                                       size_t item_size, taper_error *error);
#define TAPER_GROW(allocator, array, capacity, want, error)                                                            \
    taper_grow((allocator), (void **)&(array), &(capacity), (want), sizeof *(array), (error))

#endif
