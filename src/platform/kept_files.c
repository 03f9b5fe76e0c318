// SPDX-License-Identifier: BSD-2-Clause
// Implements kept_files.h for Linux, Android and Apple systems.
#define _DEFAULT_SOURCE 1
#define _DARWIN_C_SOURCE 1
#include "platform/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h> // for rename
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

static bool is_ours(int fd, struct stat *info)
{
    return fstat(fd, info) == 0 && S_ISREG(info->st_mode) && info->st_uid == geteuid() &&
           (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static void describe(const struct stat *info, taper_kept_stamp *stamp)
{
#ifdef __APPLE__
    const struct timespec written = info->st_mtimespec, changed = info->st_ctimespec;
#else
    const struct timespec written = info->st_mtim, changed = info->st_ctim;
#endif
    const uint64_t facts[] = {(uint64_t)info->st_dev,   (uint64_t)info->st_ino,    (uint64_t)info->st_size,
                              (uint64_t)written.tv_sec, (uint64_t)written.tv_nsec, (uint64_t)changed.tv_sec,
                              (uint64_t)changed.tv_nsec};
    stamp->identity = taper_hash(0, facts, sizeof facts);
    stamp->changed = (int64_t)(written.tv_sec > changed.tv_sec ? written.tv_sec : changed.tv_sec);
    stamp->changed = stamp->changed > 0 ? stamp->changed : 0;
    stamp->now = (int64_t)time(NULL);
}

bool taper_kept_map(const char *path, taper_mapping *mapping, taper_kept_stamp *stamp)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;
    *mapping = (taper_mapping){0};
    if (fd < 0) {
        return false;
    }
    const bool mapped = is_ours(fd, &info) && info.st_size > 0 && taper_map_fd(fd, 0, 0, mapping, NULL) == TAPER_OK;
    (void)close(fd);
    if (mapped && stamp != NULL) {
        describe(&info, stamp);
    }
    if (mapped) { // lets the system start to read the pages that are not in memory yet
        (void)madvise(mapping->base, mapping->base_size, MADV_WILLNEED);
    }
    return mapped;
}

// Opens a file of this user and locks it. Opening never waits and never follows a link. The system releases the lock
// when the process ends, however it ends. Returns -1 on failure; errno is EWOULDBLOCK if another process, or another
// writer in this process, holds the lock.
static int open_locked(const char *path, int flags)
{
    struct stat info;
    const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return -1;
    }
    int reason = EPERM;
    if (is_ours(fd, &info)) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return fd;
        }
        reason = errno;
    }
    (void)close(fd);
    errno = reason;
    return -1;
}

static bool still_names(const char *path, int fd)
{
    struct stat by_name, by_fd;
    return lstat(path, &by_name) == 0 && fstat(fd, &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
           by_name.st_ino == by_fd.st_ino;
}

taper_kept_state taper_kept_begin(const char *path, const char *part, taper_kept_writer *writer)
{
    enum { TRIES = 8 };
    *writer = (taper_kept_writer){-1, path, part};
    for (int i = 0; i < TRIES; i++) {
        const int fd = open_locked(part, O_WRONLY | O_CREAT);
        if (fd < 0) {
            return errno == EWOULDBLOCK ? TAPER_KEPT_BUSY : TAPER_KEPT_REFUSED;
        }
        // Between the open and the lock, the previous writer may have renamed or removed the temporary file. A renamed
        // file is the finished one and must not be truncated.
        if (still_names(part, fd)) {
            if (ftruncate(fd, 0) == 0) { // removes the bytes that a process wrote before it died
                writer->fd = fd;
                return TAPER_KEPT_BEGUN;
            }
            (void)unlink(part);
            (void)close(fd);
            return TAPER_KEPT_REFUSED;
        }
        (void)close(fd);
    }
    return TAPER_KEPT_BUSY;
}

// Writes without raising SIGXFSZ, which would end the host's process unless the host handles it. Writing beyond
// RLIMIT_FSIZE then fails with EFBIG, like writing to a full disk.
#ifdef __APPLE__
// Apple's kernel sends SIGXFSZ to the process, and any of its threads may receive it, so this function checks the limit
// before writing.
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
    struct rlimit limit;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    if (at >= 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        ((rlim_t)at > limit.rlim_cur || size > limit.rlim_cur - (rlim_t)at)) {
        errno = EFBIG;
        return -1;
    }
    return write(fd, data, size);
}
#else
// The kernel sends SIGXFSZ to the thread that writes, so blocking it in this thread is sufficient and does not affect
// the host's other threads. A check with getrlimit would not be sufficient, because another thread or process could
// lower the limit after the check. This function uses sigpending and sigwait, because Android lacks sigtimedwait before
// API level 23. If the signal was already pending, it belongs to the host and remains pending.
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
    sigset_t ours, before, pending;
    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, SIGXFSZ);
    (void)sigemptyset(&pending);
    const bool masked = pthread_sigmask(SIG_BLOCK, &ours, &before) == 0;
    const bool was_pending = sigpending(&pending) != 0 || sigismember(&pending, SIGXFSZ) == 1;
    const ssize_t wrote = write(fd, data, size);
    const int reason = errno;
    if (wrote < 0 && reason == EFBIG && !was_pending && sigpending(&pending) == 0 &&
        sigismember(&pending, SIGXFSZ) == 1) { // false if the host ignores the signal
        int number;
        (void)sigwait(&ours, &number);
    }
    if (masked) {
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    errno = reason;
    return wrote;
}
#endif

bool taper_kept_write(taper_kept_writer *writer, const void *data, size_t size)
{
    const char *at = data;
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = write_quietly(writer->fd, at + done, size - done);
        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

void taper_kept_rewind(taper_kept_writer *writer)
{
    (void)lseek(writer->fd, 0, SEEK_SET);
}

bool taper_kept_end(taper_kept_writer *writer, bool whole)
{
    whole = whole && fsync(writer->fd) == 0;
    whole = whole && rename(writer->part, writer->path) == 0;
    if (!whole) {
        (void)unlink(writer->part);
    }
    // The file is unlocked last, because another writer may take an unlocked file. flock releases the lock even if a
    // child process that was forked meanwhile has a copy of the descriptor.
    (void)flock(writer->fd, LOCK_UN);
    (void)close(writer->fd);
    return whole;
}

bool taper_mark_left(const char *path, void *data, size_t size)
{
    const int fd = open_locked(path, O_RDONLY);
    if (fd < 0) {
        return false;
    }
    const bool whole = read(fd, data, size) == (ssize_t)size;
    (void)close(fd);
    return whole;
}

bool taper_mark_set(const char *path, const void *data, size_t size, taper_mark *mark)
{
    mark->fd = open_locked(path, O_RDWR | O_CREAT);
    if (mark->fd < 0) {
        return false;
    }
    if (ftruncate(mark->fd, 0) != 0 || write_quietly(mark->fd, data, size) != (ssize_t)size) {
        taper_mark_clear(path, mark);
        return false;
    }
    return true;
}

void taper_mark_clear(const char *path, taper_mark *mark)
{
    if (mark->fd >= 0) {
        (void)unlink(path); // must precede the release of the lock
        (void)close(mark->fd);
        mark->fd = -1;
    }
}
