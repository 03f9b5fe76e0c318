// SPDX-License-Identifier: BSD-2-Clause
// Implements the files, clock and locks of platform.h for Windows. File descriptors belong to the C runtime that the
// library is linked with.
#include "platform/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "platform/platform.h"

wchar_t *taper_wide_path(const char *path)
{
    enum { PREFIX = 4, SHORT = 240 }; // shorter paths need no prefix, even if a folder is made below them
    const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = length > 0 ? malloc((size_t)length * sizeof *wide) : NULL;
    if (wide == NULL) {
        errno = length > 0 ? ENOMEM : EINVAL;
        return NULL;
    }
    (void)MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, length);
    // The path has the prefix, or begins with the name of another machine.
    if (length < SHORT || wcsncmp(wide, L"\\\\", 2) == 0) {
        return wide;
    }
    // Number of characters of the absolute path, with backslashes.
    const DWORD full = GetFullPathNameW(wide, 0, NULL, NULL);
    wchar_t *prefixed = full != 0 ? malloc(((size_t)full + PREFIX) * sizeof *prefixed) : NULL;
    if (prefixed != NULL) {
        memcpy(prefixed, L"\\\\?\\", PREFIX * sizeof *prefixed);
        (void)GetFullPathNameW(wide, full, prefixed + PREFIX, NULL);
    } else {
        errno = ENOMEM;
    }
    free(wide);
    return prefixed;
}

// Writes the system's text for its last error, without the line break at its end.
static const char *reason(char *text, size_t size)
{
    const DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                                        GetLastError(), 0, text, (DWORD)size, NULL);
    text[length] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

taper_status taper_open_file(const char *path, int *fd, taper_error *error)
{
    wchar_t *wide = taper_wide_path(path);
    *fd = wide != NULL ? _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT) : -1;
    const int number = errno;
    free(wide);
    if (*fd < 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file cannot be opened: %s", strerror(number));
    }
    return TAPER_OK;
}

void taper_close_file(int fd)
{
    (void)_close(fd);
}

bool taper_is_directory(const char *path)
{
    wchar_t *wide = taper_wide_path(path);
    const DWORD attributes = wide != NULL ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    free(wide);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

// Finds the system's handle of a regular file, and checks that the range is within the file. *part is the length of the
// range; a length of 0 becomes the length up to the end of the file.
static taper_status check_part(int fd, uint64_t offset, uint64_t *part, HANDLE *file, taper_error *error)
{
    char text[256];
    LARGE_INTEGER bytes;
    *file = (HANDLE)_get_osfhandle(fd);
    if (*file == INVALID_HANDLE_VALUE || GetFileType(*file) != FILE_TYPE_DISK) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "not a regular file");
    }
    if (!GetFileSizeEx(*file, &bytes)) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file cannot be read: %s", reason(text, sizeof text));
    }
    const uint64_t size = (uint64_t)bytes.QuadPart;
    if (offset > size || *part > size - offset) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%llu bytes from byte %llu on were asked for, the file has %llu",
                   (unsigned long long)*part, (unsigned long long)offset, (unsigned long long)size);
    }
    *part = *part == 0 ? size - offset : *part;
    if (*part == 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file is empty");
    }
    return TAPER_OK;
}

taper_status taper_map_fd(int fd, uint64_t offset, uint64_t length, taper_mapping *mapping, taper_error *error)
{
    HANDLE file;
    SYSTEM_INFO system;
    char text[256];
    memset(mapping, 0, sizeof *mapping);
    TAPER_TRY(check_part(fd, offset, &length, &file, error));
    GetSystemInfo(&system);
    const uint64_t lead = offset % system.dwAllocationGranularity, start = offset - lead;
    if (length > SIZE_MAX / 2 - lead) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the file is too large for this machine's address space");
    }
    const HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    void *base = section != NULL ? MapViewOfFile(section, FILE_MAP_READ, (DWORD)(start >> 32), (DWORD)start,
                                                 (size_t)(lead + length))
                                 : NULL;
    if (base == NULL) {
        (void)reason(text, sizeof text);
    }
    if (section != NULL) {
        (void)CloseHandle(section); // the view keeps the section alive
    }
    if (base == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the file cannot be mapped: %s", text);
    }
    mapping->base = base;
    mapping->base_size = (size_t)(lead + length);
    mapping->data = (const uint8_t *)base + lead;
    mapping->size = (size_t)length;
    return TAPER_OK;
}

static taper_status read_all(HANDLE file, uint64_t offset, char *to, size_t size, taper_error *error)
{
    enum { AT_ONCE = 1 << 30 };
    char text[256];
    for (size_t done = 0; done < size;) {
        const uint64_t at = offset + done;
        OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
        DWORD got = 0;
        if (!ReadFile(file, to + done, (DWORD)taper_min_size(size - done, AT_ONCE), &got, &place) &&
            GetLastError() != ERROR_HANDLE_EOF) {
            TAPER_FAIL(error, TAPER_ERROR_FILE, "the file cannot be read: %s", reason(text, sizeof text));
        }
        if (got == 0) {
            TAPER_FAIL(error, TAPER_ERROR_FILE, "the file became shorter while it was read");
        }
        done += got;
    }
    return TAPER_OK;
}

taper_status taper_read_fd(const taper_allocator *allocator, int fd, uint64_t offset, uint64_t length, void **block,
                           size_t *size, taper_error *error)
{
    HANDLE file;
    *block = NULL;
    TAPER_TRY(check_part(fd, offset, &length, &file, error));
    *size = (size_t)length;
    *block = length <= SIZE_MAX / 4 ? taper_alloc(allocator, *size) : NULL;
    if (*block == NULL) {
        return taper_fail_memory(error);
    }
    const taper_status status = read_all(file, offset, *block, *size, error);
    if (status != TAPER_OK) {
        taper_free(allocator, *block, *size);
        *block = NULL;
    }
    return status;
}

void taper_unmap(taper_mapping *mapping)
{
    if (mapping->base != NULL) {
        (void)UnmapViewOfFile(mapping->base);
    }
    memset(mapping, 0, sizeof *mapping);
}

void taper_map_unneeded(const void *data, size_t size)
{
    // If pages are not locked, VirtualUnlock reports an error, but it also removes these pages from the working set.
    (void)VirtualUnlock((void *)(uintptr_t)data, size);
}

void taper_map_large(void *data, size_t size)
{
    (void)data, (void)size; // large pages need a privilege on Windows
}

double taper_clock(void)
{
    LARGE_INTEGER now, frequency;
    (void)QueryPerformanceFrequency(&frequency);
    (void)QueryPerformanceCounter(&now);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

struct taper_mutex {
    taper_allocator allocator;
    SRWLOCK lock;
};

taper_status taper_mutex_create(const taper_allocator *allocator, taper_mutex **mutex, taper_error *error)
{
    *mutex = taper_alloc(allocator, sizeof **mutex);
    if (*mutex == NULL) {
        return taper_fail_memory(error);
    }
    (*mutex)->allocator = *allocator;
    InitializeSRWLock(&(*mutex)->lock);
    return TAPER_OK;
}

void taper_mutex_destroy(taper_mutex *mutex)
{
    if (mutex != NULL) {
        const taper_allocator allocator = mutex->allocator;
        taper_free(&allocator, mutex, sizeof *mutex);
    }
}

void taper_mutex_lock(taper_mutex *mutex)
{
    AcquireSRWLockExclusive(&mutex->lock);
}

void taper_mutex_unlock(taper_mutex *mutex)
{
    ReleaseSRWLockExclusive(&mutex->lock);
}
