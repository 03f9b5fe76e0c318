// SPDX-License-Identifier: BSD-2-Clause
// Memory that the driver reads and writes: shared with it where the system can do that.
#ifndef TAPER_BACKENDS_DRIVER_MEMORY_H
#define TAPER_BACKENDS_DRIVER_MEMORY_H

#include "backends/nnapi/driver.h"
#include "platform/shared_memory.h"

enum { TAPER_NNAPI_ALIGNMENT = 64 }; // of what lies in one

typedef struct taper_nnapi_memory {
    char *data;
    size_t size;
    ANeuralNetworksMemory *handle; // NULL: it is not shared, the driver gets pointers
    taper_shared_memory shared;
    const taper_allocator *allocator; // of a block that is not
    void *block;
} taper_nnapi_memory;

// False: it cannot be had, nothing is made.
bool taper_nnapi_memory_share(taper_nnapi_driver *driver, size_t size, taper_nnapi_memory *memory);
// The same, or else a block. Fails without memory.
TAPER_MUST_USE taper_status taper_nnapi_memory_create(taper_nnapi_driver *driver, const taper_allocator *allocator,
                                                      size_t size, taper_nnapi_memory *memory, taper_error *error);
void taper_nnapi_memory_free(const taper_nnapi_driver *driver, taper_nnapi_memory *memory); // none is fine

// Room for `bytes` more behind *size; *at says where. False: all of it would be more than a driver is given.
bool taper_nnapi_memory_place(size_t *size, size_t bytes, size_t *at);

#endif
