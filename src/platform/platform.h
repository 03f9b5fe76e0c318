// SPDX-License-Identifier: BSD-2-Clause
// The primitives of the operating system that Taper uses: files, mappings, clock, CPU, locks. posix.c and cpu.c
// implement them for Linux, Android and Apple systems, and windows_files.c and windows_cpu.c for Windows. All of these
// systems use isa.c.
#ifndef TAPER_PLATFORM_PLATFORM_H
#define TAPER_PLATFORM_PLATFORM_H

#include "base/memory.h"

// ---- files
//
// A private, read-only mapping of the bytes [offset, offset + length) of a file. A length of 0 means up to the end of
// the file.
typedef struct taper_mapping {
    const uint8_t *data;
    size_t size;
    void *base; // first byte of the mapped pages, which contain `data`
    size_t base_size;
} taper_mapping;

// Opens the file for reading.
TAPER_MUST_USE taper_status taper_open_file(const char *path, int *fd, taper_error *error);
void taper_close_file(int fd);
bool taper_is_directory(const char *path); // returns false also if this process may not access the directory
TAPER_MUST_USE taper_status taper_map_fd(int fd, uint64_t offset, uint64_t length, taper_mapping *mapping,
                                         taper_error *error);
// Reads the same range of the file as taper_map_fd into a new block of *size bytes. The caller frees the block. Fails
// if the file becomes shorter meanwhile.
TAPER_MUST_USE taper_status taper_read_fd(const taper_allocator *allocator, int fd, uint64_t offset, uint64_t length,
                                          void **block, size_t *size, taper_error *error);
void taper_unmap(taper_mapping *mapping);
// Tells the system that the pages of [data, data + size) are not needed for now. They are read from the file again when
// they are accessed.
void taper_map_unneeded(const void *data, size_t size);
// The size of a large page in bytes, on x86 and on ARM with small pages of 4 KB.
enum { TAPER_LARGE_PAGE = 2 << 20 };
// Asks the system for large pages for [data, data + size). The memory must not have been used yet, and will be used
// repeatedly, so that larger pages save address translations. This function touches the pages one by one. If large
// pages take longer than small pages, this process asks for no more of them: a kernel may have to compact memory for a
// large page, or a hypervisor to find one.
void taper_map_large(void *data, size_t size);

// ---- time and CPU
double taper_clock(void);        // returns monotonic time in seconds
bool taper_cpu_has_pclmul(void); // returns true if an x86 has carry-less multiplication
// Returns the number of big physical cores that this process may use, at most its quota; see platform/cores.h.
unsigned taper_cpu_cores(void);

// ---- locks
typedef struct taper_mutex taper_mutex;
TAPER_MUST_USE taper_status taper_mutex_create(const taper_allocator *allocator, taper_mutex **mutex,
                                               taper_error *error);
void taper_mutex_destroy(taper_mutex *mutex);
void taper_mutex_lock(taper_mutex *mutex);
void taper_mutex_unlock(taper_mutex *mutex);

#endif
