// SPDX-License-Identifier: BSD-2-Clause
// Allocates memory that another process, such as the process of a driver, can map by its file descriptor.
#ifndef TAPER_PLATFORM_SHARED_MEMORY_H
#define TAPER_PLATFORM_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct taper_shared_memory {
    void *data; // first byte; NULL for no memory
    size_t size;
    int fd;
} taper_shared_memory;

// Allocates `size` zeroed bytes, at most INT32_MAX. Returns false if the system does not support shared memory or
// refuses the request.
bool taper_shared_memory_create(size_t size, taper_shared_memory *memory);
void taper_shared_memory_free(taper_shared_memory *memory); // does nothing if there is no memory

#endif
