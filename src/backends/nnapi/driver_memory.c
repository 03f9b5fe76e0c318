// SPDX-License-Identifier: BSD-2-Clause
// Memory of the driver: shared memory that the driver maps, or a plain block.
#include "backends/nnapi/driver_memory.h"

enum { READ = 1, WRITE = 2 }; // protection flags PROT_READ and PROT_WRITE of mappings, the same on every Linux

bool taper_nnapi_memory_share(taper_nnapi_driver *driver, size_t size, taper_nnapi_memory *memory)
{
    *memory = (taper_nnapi_memory){.shared = {.fd = -1}};
    if (!taper_shared_memory_create(size, &memory->shared)) {
        return false;
    }
    if (driver->call.Memory_createFromFd(size, READ | WRITE, memory->shared.fd, 0, &memory->handle) !=
            ANEURALNETWORKS_NO_ERROR ||
        memory->handle == NULL) {
        memory->handle = NULL;
        taper_shared_memory_free(&memory->shared);
        return false;
    }
    memory->data = memory->shared.data;
    memory->size = size;
    return true;
}

taper_status taper_nnapi_memory_create(taper_nnapi_driver *driver, const taper_allocator *allocator, size_t size,
                                       taper_nnapi_memory *memory, taper_error *error)
{
    if (taper_nnapi_memory_share(driver, size, memory)) {
        return TAPER_OK;
    }
    memory->block = taper_alloc(allocator, size + TAPER_NNAPI_ALIGNMENT);
    if (memory->block == NULL) {
        return taper_fail_memory(error);
    }
    const size_t over = (uintptr_t)memory->block % TAPER_NNAPI_ALIGNMENT;
    memory->data = (char *)memory->block + TAPER_NNAPI_ALIGNMENT - over;
    memory->size = size;
    memory->allocator = allocator;
    return TAPER_OK;
}

void taper_nnapi_memory_free(const taper_nnapi_driver *driver, taper_nnapi_memory *memory)
{
    if (memory->handle != NULL) {
        driver->call.Memory_free(memory->handle);
    }
    taper_shared_memory_free(&memory->shared);
    if (memory->block != NULL) {
        taper_free(memory->allocator, memory->block, memory->size + TAPER_NNAPI_ALIGNMENT);
    }
    *memory = (taper_nnapi_memory){.shared = {.fd = -1}};
}

bool taper_nnapi_memory_place(size_t *size, size_t bytes, size_t *at)
{
    *at = (*size + TAPER_NNAPI_ALIGNMENT - 1) / TAPER_NNAPI_ALIGNMENT * TAPER_NNAPI_ALIGNMENT;
    if (bytes > INT32_MAX - TAPER_NNAPI_ALIGNMENT || *at > INT32_MAX - TAPER_NNAPI_ALIGNMENT - bytes) {
        return false;
    }
    *size = *at + bytes;
    return true;
}
