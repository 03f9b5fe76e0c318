// SPDX-License-Identifier: BSD-2-Clause
// Implements kept_files.h for Windows. A file that this process holds open for writing cannot be opened by other
// processes, so the open handle is the lock.
#include "platform/windows.h"

#include <aclapi.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "platform/kept_files.h"

// Returns true if the owner of the file is the user of this process, or the group that owns what an administrator
// makes.
static bool is_owned(HANDLE file)
{
    PSID owner = NULL;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    HANDLE token = NULL;
    union {
        TOKEN_USER user;
        TOKEN_OWNER owner;
        char bytes[512];
    } mine;
    DWORD size;
    bool ours = false;
    if (GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL, NULL, &descriptor) !=
        ERROR_SUCCESS) {
        return false;
    }
    if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
        ours = GetTokenInformation(token, TokenUser, &mine, sizeof mine, &size) && EqualSid(owner, mine.user.User.Sid);
        ours = ours ||
               (GetTokenInformation(token, TokenOwner, &mine, sizeof mine, &size) && EqualSid(owner, mine.owner.Owner));
        (void)CloseHandle(token);
    }
    (void)LocalFree(descriptor);
    return ours;
}

// Opens a regular file of this user without following a link. Returns a descriptor of the C runtime, or -1 on failure;
// errno is EWOULDBLOCK if the file is open elsewhere and not shared for this access.
static int open_ours(const char *path, DWORD access, DWORD share, DWORD creation)
{
    wchar_t *wide = taper_wide_path(path);
    BY_HANDLE_FILE_INFORMATION info;
    if (wide == NULL) {
        return -1;
    }
    const HANDLE file = CreateFileW(wide, access | READ_CONTROL, share, NULL, creation,
                                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    const DWORD failed = GetLastError();
    free(wide);
    if (file == INVALID_HANDLE_VALUE) {
        errno = failed == ERROR_SHARING_VIOLATION ? EWOULDBLOCK : EACCES;
        return -1;
    }
    const DWORD special = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
    if (GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &info) &&
        (info.dwFileAttributes & special) == 0 && is_owned(file)) {
        const int fd = _open_osfhandle((intptr_t)file, _O_BINARY | _O_NOINHERIT);
        if (fd >= 0) {
            return fd; // closing the descriptor also closes the handle
        }
    }
    (void)CloseHandle(file);
    errno = EPERM;
    return -1;
}

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

// Converts units of 100 ns since 1601 to seconds since 1970.
static int64_t seconds_of(FILETIME time)
{
    const uint64_t units = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
    const int64_t seconds = (int64_t)(units / 10000000) - INT64_C(11644473600);
    return seconds > 0 ? seconds : 0;
}

bool taper_kept_map(const char *path, taper_mapping *mapping, taper_kept_stamp *stamp)
{
    BY_HANDLE_FILE_INFORMATION info;
    *mapping = (taper_mapping){0};
    const int fd = open_ours(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING);
    if (fd < 0) {
        return false;
    }
    const bool mapped =
        GetFileInformationByHandle(handle_of(fd), &info) && taper_map_fd(fd, 0, 0, mapping, NULL) == TAPER_OK;
    (void)_close(fd);
    if (mapped && stamp != NULL) {
        const uint32_t facts[] = {info.dwVolumeSerialNumber,
                                  info.nFileIndexHigh,
                                  info.nFileIndexLow,
                                  info.nFileSizeHigh,
                                  info.nFileSizeLow,
                                  info.ftLastWriteTime.dwHighDateTime,
                                  info.ftLastWriteTime.dwLowDateTime};
        stamp->identity = taper_hash(0, facts, sizeof facts);
        stamp->changed = seconds_of(info.ftLastWriteTime);
        stamp->now = (int64_t)time(NULL);
    }
    return mapped;
}

// Marks the file for deletion when its handle is closed.
static void remove_open(int fd)
{
    FILE_DISPOSITION_INFO gone = {TRUE};
    (void)SetFileInformationByHandle(handle_of(fd), FileDispositionInfo, &gone, sizeof gone);
}

static bool truncate_open(int fd)
{
    return SetFilePointer(handle_of(fd), 0, NULL, FILE_BEGIN) != INVALID_SET_FILE_POINTER &&
           SetEndOfFile(handle_of(fd));
}

taper_kept_state taper_kept_begin(const char *path, const char *part, taper_kept_writer *writer)
{
    *writer = (taper_kept_writer){-1, path, part};
    // Other processes can neither open nor rename the file while the handle is open.
    const int fd = open_ours(part, GENERIC_WRITE | DELETE, 0, OPEN_ALWAYS);
    if (fd < 0) {
        return errno == EWOULDBLOCK ? TAPER_KEPT_BUSY : TAPER_KEPT_REFUSED;
    }
    if (!truncate_open(fd)) {
        remove_open(fd);
        (void)_close(fd);
        return TAPER_KEPT_REFUSED;
    }
    writer->fd = fd;
    return TAPER_KEPT_BEGUN;
}

bool taper_kept_write(taper_kept_writer *writer, const void *data, size_t size)
{
    enum { AT_ONCE = 1 << 30 };
    for (size_t done = 0; done < size;) {
        DWORD wrote = 0;
        if (!WriteFile(handle_of(writer->fd), (const char *)data + done, (DWORD)taper_min_size(size - done, AT_ONCE),
                       &wrote, NULL) ||
            wrote == 0) {
            return false;
        }
        done += wrote;
    }
    return true;
}

void taper_kept_rewind(taper_kept_writer *writer)
{
    (void)SetFilePointer(handle_of(writer->fd), 0, NULL, FILE_BEGIN);
}

// Renames an open file, and replaces an existing file at `path`, unless that file is open elsewhere.
static bool rename_open(int fd, const char *path)
{
    wchar_t *wide = taper_wide_path(path);
    const size_t length = wide != NULL ? wcslen(wide) : 0;
    const size_t size = sizeof(FILE_RENAME_INFO) + length * sizeof *wide;
    FILE_RENAME_INFO *info = wide != NULL ? calloc(1, size) : NULL;
    bool renamed = false;
    if (info != NULL) {
        info->ReplaceIfExists = TRUE;
        info->FileNameLength = (DWORD)(length * sizeof *wide);
        memcpy(info->FileName, wide, length * sizeof *wide);
        renamed = SetFileInformationByHandle(handle_of(fd), FileRenameInfo, info, (DWORD)size);
    }
    free(info);
    free(wide);
    return renamed;
}

bool taper_kept_end(taper_kept_writer *writer, bool whole)
{
    whole = whole && FlushFileBuffers(handle_of(writer->fd));
    whole = whole && rename_open(writer->fd, writer->path);
    if (!whole) {
        remove_open(writer->fd);
    }
    (void)_close(writer->fd);
    return whole;
}

bool taper_mark_left(const char *path, void *data, size_t size)
{
    const int fd = open_ours(path, GENERIC_READ, 0, OPEN_EXISTING);
    if (fd < 0) {
        return false;
    }
    DWORD got = 0;
    const bool whole = ReadFile(handle_of(fd), data, (DWORD)size, &got, NULL) && got == size;
    (void)_close(fd);
    return whole;
}

bool taper_mark_set(const char *path, const void *data, size_t size, taper_mark *mark)
{
    DWORD wrote = 0;
    mark->fd = open_ours(path, GENERIC_READ | GENERIC_WRITE | DELETE, 0, OPEN_ALWAYS);
    if (mark->fd < 0) {
        return false;
    }
    if (!truncate_open(mark->fd) || !WriteFile(handle_of(mark->fd), data, (DWORD)size, &wrote, NULL) || wrote != size) {
        taper_mark_clear(path, mark);
        return false;
    }
    return true;
}

void taper_mark_clear(const char *path, taper_mark *mark)
{
    (void)path;
    if (mark->fd >= 0) {
        remove_open(mark->fd);
        (void)_close(mark->fd);
        mark->fd = -1;
    }
}
