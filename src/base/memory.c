// SPDX-License-Identifier: BSD-2-Clause
// Memory from the host's allocator, and arrays that grow.
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *system_reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

const taper_allocator taper_allocator_system = {.user = NULL, .reallocate = system_reallocate};

void *taper_alloc(const taper_allocator *allocator, size_t size)
{
    return size == 0 ? NULL : allocator->reallocate(allocator->user, NULL, 0, size);
}

void *taper_alloc_zeroed(const taper_allocator *allocator, size_t size)
{
    void *ptr = taper_alloc(allocator, size);
    if (ptr != NULL) {
        memset(ptr, 0, size);
    }
    return ptr;
}

void *taper_realloc(const taper_allocator *allocator, void *ptr, size_t old_size, size_t new_size)
{
    return allocator->reallocate(allocator->user, ptr, old_size, new_size);
}

void taper_free(const taper_allocator *allocator, void *ptr, size_t size)
{
    if (ptr != NULL) {
        (void)allocator->reallocate(allocator->user, ptr, size, 0);
    }
}

taper_status taper_grow(const taper_allocator *allocator, void **items, size_t *capacity, size_t want, size_t item_size,
                        taper_error *error)
{
    if (want <= *capacity) {
        return TAPER_OK;
    }
    size_t next = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    next = taper_max_size(next, want);
    size_t bytes;
    if (!taper_mul_size(next, item_size, &bytes) || bytes > SIZE_MAX / 4) {
        return taper_fail_memory(error);
    }
    void *grown = taper_realloc(allocator, *items, *capacity * item_size, bytes);
    if (grown == NULL) {
        return taper_fail_memory(error);
    }
    *items = grown;
    *capacity = next;
    return TAPER_OK;
}
