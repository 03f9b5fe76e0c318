// SPDX-License-Identifier: BSD-2-Clause
// Memory that the driver reads and writes. The memory is shared with the driver's process if the system supports shared
// memory.
#ifndef TAPER_BACKENDS_DRIVER_MEMORY_H
#define TAPER_BACKENDS_DRIVER_MEMORY_H

#include "backends/nnapi/driver.h"
#include "platform/shared_memory.h"

enum { TAPER_NNAPI_ALIGNMENT = 64 }; // alignment of data in one memory, in bytes

typedef struct taper_nnapi_memory {
    char *data;
    size_t size;
    // The driver's handle; NULL if the memory is not shared, and the driver then gets pointers.
    ANeuralNetworksMemory *handle;
    taper_shared_memory shared;
    const taper_allocator *allocator; // allocator of `block`, for memory that is not shared
    void *block;
} taper_nnapi_memory;

// Makes shared memory. Returns false, with nothing allocated, if this is not possible.
bool taper_nnapi_memory_share(taper_nnapi_driver *driver, size_t size, taper_nnapi_memory *memory);
// Makes shared memory if possible, otherwise allocates a block. Fails if memory is missing.
TAPER_MUST_USE taper_status taper_nnapi_memory_create(taper_nnapi_driver *driver, const taper_allocator *allocator,
                                                      size_t size, taper_nnapi_memory *memory, taper_error *error);
// Frees the memory. Does nothing for a zeroed struct.
void taper_nnapi_memory_free(const taper_nnapi_driver *driver, taper_nnapi_memory *memory);

// Reserves `bytes` bytes at the end of a memory of *size bytes. *at receives their offset. Returns false if the total
// exceeds the limit of a driver's memory.
bool taper_nnapi_memory_place(size_t *size, size_t bytes, size_t *at);

#endif
