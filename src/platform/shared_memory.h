// SPDX-License-Identifier: BSD-2-Clause
// Memory that another process, a driver's, can be given by its descriptor.
#ifndef TAPER_PLATFORM_SHARED_MEMORY_H
#define TAPER_PLATFORM_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct taper_shared_memory {
    void *data; // NULL: none
    size_t size;
    int fd;
} taper_shared_memory;

// Zeroed, of at least `size` bytes. False: the system has none to give.
bool taper_shared_memory_create(size_t size, taper_shared_memory *memory);
void taper_shared_memory_free(taper_shared_memory *memory); // none is fine

#endif
