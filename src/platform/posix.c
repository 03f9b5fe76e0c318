// SPDX-License-Identifier: BSD-2-Clause
// Implements the files, clock and locks of platform.h for Linux, Android and Apple systems.
#define _DEFAULT_SOURCE 1
#define _DARWIN_C_SOURCE 1 // needed for madvise
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"

// Opens with O_NONBLOCK, because opening a pipe would otherwise wait for a writer. The check of the file's kind then
// refuses the pipe.
taper_status taper_open_file(const char *path, int *fd, taper_error *error)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file cannot be opened: %s", strerror(errno));
    }
    return TAPER_OK;
}

void taper_close_file(int fd)
{
    (void)close(fd);
}

bool taper_is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// Checks that the range is within the file. *part is the length of the range; a length of 0 becomes the length up to
// the end of the file.
static taper_status check_part(int fd, uint64_t offset, uint64_t *part, taper_error *error)
{
    uint64_t length = *part;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file cannot be read: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "not a regular file");
    }
    const uint64_t size = (uint64_t)info.st_size;
    if (offset > size || length > size - offset) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%llu bytes from byte %llu on were asked for, the file has %llu",
                   (unsigned long long)length, (unsigned long long)offset, (unsigned long long)size);
    }
    if (length == 0) {
        length = size - offset;
    }
    if (length == 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file is empty");
    }
    *part = length;
    return TAPER_OK;
}

taper_status taper_map_fd(int fd, uint64_t offset, uint64_t length, taper_mapping *mapping, taper_error *error)
{
    memset(mapping, 0, sizeof *mapping);
    TAPER_TRY(check_part(fd, offset, &length, error));
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t start = offset / page * page;
    const uint64_t lead = offset - start;
    if (length > SIZE_MAX / 2 - lead) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the file is too large for this machine's address space");
    }
    void *base = mmap(NULL, (size_t)(lead + length), PROT_READ, MAP_PRIVATE, fd, (off_t)start);
    if (base == MAP_FAILED) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the file cannot be mapped: %s", strerror(errno));
    }
    mapping->base = base;
    mapping->base_size = (size_t)(lead + length);
    mapping->data = (const uint8_t *)base + lead;
    mapping->size = (size_t)length;
    return TAPER_OK;
}

static taper_status read_all(int fd, uint64_t offset, char *to, size_t size, taper_error *error)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(fd, to + done, size - done, (off_t)(offset + done));
        if (got == 0) {
            TAPER_FAIL(error, TAPER_ERROR_FILE, "the file became shorter while it was read");
        }
        if (got < 0 && errno != EINTR) {
            TAPER_FAIL(error, TAPER_ERROR_FILE, "the file cannot be read: %s", strerror(errno));
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return TAPER_OK;
}

taper_status taper_read_fd(const taper_allocator *allocator, int fd, uint64_t offset, uint64_t length, void **block,
                           size_t *size, taper_error *error)
{
    *block = NULL;
    TAPER_TRY(check_part(fd, offset, &length, error));
    *size = (size_t)length;
    *block = length <= SIZE_MAX / 4 ? taper_alloc(allocator, *size) : NULL;
    if (*block == NULL) {
        return taper_fail_memory(error);
    }
    const taper_status status = read_all(fd, offset, *block, *size, error);
    if (status != TAPER_OK) {
        taper_free(allocator, *block, *size);
        *block = NULL;
    }
    return status;
}

void taper_unmap(taper_mapping *mapping)
{
    if (mapping->base != NULL) {
        (void)munmap(mapping->base, mapping->base_size);
    }
    memset(mapping, 0, sizeof *mapping);
}

void taper_map_unneeded(const void *data, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)data + page - 1) / page * page;
    const uintptr_t last = ((uintptr_t)data + size) / page * page;
    if (first < last) {
        (void)madvise((void *)first, last - first, MADV_DONTNEED);
    }
}

double taper_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#ifdef MADV_HUGEPAGE
// Seconds that a large page may take before it counts as late. If the total lateness reaches large_pages_late seconds,
// the process asks for no more large pages.
static const double large_page_seconds = 1e-3, large_pages_late = 3e-3;

static double touch(char *page)
{
    const double begin = taper_clock();
    *(volatile char *)page = 0;
    return taper_clock() - begin;
}
#endif

void taper_map_large(void *data, size_t size)
{
#ifdef MADV_HUGEPAGE
    static atomic_bool slow;
    const uintptr_t last = ((uintptr_t)data + size) / TAPER_LARGE_PAGE * TAPER_LARGE_PAGE;
    uintptr_t at = ((uintptr_t)data + TAPER_LARGE_PAGE - 1) / TAPER_LARGE_PAGE * TAPER_LARGE_PAGE;
    double late = 0;
    for (; at < last && late < large_pages_late; at += TAPER_LARGE_PAGE) {
        if (atomic_load_explicit(&slow, memory_order_relaxed) ||
            madvise((void *)at, TAPER_LARGE_PAGE, MADV_HUGEPAGE) != 0) {
            return;
        }
        const double seconds = touch((char *)at);
        late += seconds > large_page_seconds ? seconds - large_page_seconds : 0;
    }
    if (late >= large_pages_late) {
        atomic_store_explicit(&slow, true, memory_order_relaxed);
    }
#else
    (void)data, (void)size;
#endif
}

struct taper_mutex {
    taper_allocator allocator;
    pthread_mutex_t lock;
};

taper_status taper_mutex_create(const taper_allocator *allocator, taper_mutex **mutex, taper_error *error)
{
    *mutex = taper_alloc(allocator, sizeof **mutex);
    if (*mutex == NULL) {
        return taper_fail_memory(error);
    }
    (*mutex)->allocator = *allocator;
    if (pthread_mutex_init(&(*mutex)->lock, NULL) != 0) {
        taper_free(allocator, *mutex, sizeof **mutex);
        *mutex = NULL;
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

void taper_mutex_destroy(taper_mutex *mutex)
{
    if (mutex != NULL) {
        (void)pthread_mutex_destroy(&mutex->lock);
        const taper_allocator allocator = mutex->allocator;
        taper_free(&allocator, mutex, sizeof *mutex);
    }
}

void taper_mutex_lock(taper_mutex *mutex)
{
    (void)pthread_mutex_lock(&mutex->lock);
}

void taper_mutex_unlock(taper_mutex *mutex)
{
    (void)pthread_mutex_unlock(&mutex->lock);
}
