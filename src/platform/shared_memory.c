// SPDX-License-Identifier: BSD-2-Clause
// Allocates shared memory. Android has a function for this in every version with NNAPI, and apps may not call
// memfd_create before API level 30. Linux has memfd_create. Other systems have no shared memory here.
#ifdef __linux__
#define _GNU_SOURCE 1 // needed for memfd_create
#endif
#include "platform/shared_memory.h"

#if defined(__linux__)
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __ANDROID__
#include <string.h>

#include "platform/dynamic_library.h"

static int create(size_t size)
{
    int (*make)(const char *name, size_t size) = NULL;
    taper_library *library = taper_library_open("libandroid.so");
    if (library == NULL) {
        return -1;
    }
    const taper_library_function found = taper_library_find(library, "ASharedMemory_create");
    memcpy(&make, &found, sizeof make);
    const int fd = make != NULL ? make("taper", size) : -1;
    taper_library_close(library);
    return fd;
}
#else
static int create(size_t size)
{
    const int fd = memfd_create("taper", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}
#endif

bool taper_shared_memory_create(size_t size, taper_shared_memory *memory)
{
    *memory = (taper_shared_memory){.fd = -1};
    if (size == 0 || size > INT32_MAX) {
        return false;
    }
    memory->fd = create(size);
    if (memory->fd < 0) {
        return false;
    }
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
    if (data == MAP_FAILED) {
        (void)close(memory->fd);
        return false;
    }
    memory->data = data;
    memory->size = size;
    return true;
}

void taper_shared_memory_free(taper_shared_memory *memory)
{
    if (memory->data != NULL) {
        (void)munmap(memory->data, memory->size);
        (void)close(memory->fd);
    }
    *memory = (taper_shared_memory){.fd = -1};
}
#else
bool taper_shared_memory_create(size_t size, taper_shared_memory *memory)
{
    (void)size;
    *memory = (taper_shared_memory){.fd = -1};
    return false;
}

void taper_shared_memory_free(taper_shared_memory *memory)
{
    (void)memory;
}
#endif
