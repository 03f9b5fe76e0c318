// SPDX-License-Identifier: BSD-2-Clause
// Every OS primitive that Taper uses: files, mappings, clock, CPU, locks. posix.c implements it for Linux, Android and
// Apple systems.
#ifndef TAPER_PLATFORM_PLATFORM_H
#define TAPER_PLATFORM_PLATFORM_H

#include "base/memory.h"

// ---- files: a private, read-only mapping of [offset, offset + length) of a file; length 0: to its end.
typedef struct taper_mapping {
    const uint8_t *data;
    size_t size;
    void *base; // of the pages
    size_t base_size;
} taper_mapping;

TAPER_MUST_USE taper_status taper_open_file(const char *path, int *fd, taper_error *error); // for reading
void taper_close_file(int fd);
bool taper_is_directory(const char *path); // there, and reachable for this process
TAPER_MUST_USE taper_status taper_map_fd(int fd, uint64_t offset, uint64_t length, taper_mapping *mapping,
                                         taper_error *error);
// The same part of a file in a block of the allocator, of *size bytes. A file that becomes shorter meanwhile is an
// error.
TAPER_MUST_USE taper_status taper_read_fd(const taper_allocator *allocator, int fd, uint64_t offset, uint64_t length,
                                          void **block, size_t *size, taper_error *error);
void taper_unmap(taper_mapping *mapping);
// The pages of [data, data + size) are not needed for now; they come back from the file when touched.
void taper_map_unneeded(const void *data, size_t size);
// All of [data, data + size), which nobody used yet, will be used again and again: large pages save what looking up
// small ones costs. They are touched here, one by one, and none are asked for any more in this process once they took
// longer than small ones: a kernel may have to compact memory for them, or a host to find it.
enum { TAPER_LARGE_PAGE = 2 << 20 }; // of x86, and of ARM with small pages of 4 KB
void taper_map_large(void *data, size_t size);

// ---- time and CPU
double taper_clock(void);        // seconds, monotonic
bool taper_cpu_has_pclmul(void); // carry-less multiplication of x86
unsigned taper_cpu_cores(void);  // big physical cores this process may use, at most its quota; platform/cores.h

// ---- locks
typedef struct taper_mutex taper_mutex;
TAPER_MUST_USE taper_status taper_mutex_create(const taper_allocator *allocator, taper_mutex **mutex,
                                               taper_error *error);
void taper_mutex_destroy(taper_mutex *mutex);
void taper_mutex_lock(taper_mutex *mutex);
void taper_mutex_unlock(taper_mutex *mutex);

#endif
