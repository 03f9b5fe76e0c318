// SPDX-License-Identifier: BSD-2-Clause
// kept_files.h for Linux, Android and Apple systems.
#define _DEFAULT_SOURCE 1
#define _DARWIN_C_SOURCE 1
#include "platform/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h> // rename
#include <sys/file.h>
#include <sys/mman.h>
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
    if (mapped) { // by now from the disk, if it is not in memory
        (void)madvise(mapping->base, mapping->base_size, MADV_WILLNEED);
    }
    return mapped;
}

// Whether nobody has written to it for a quarter of an hour.
static bool is_left_alone(const char *path)
{
    enum { LONG = 15 * 60 };
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           time(NULL) - info.st_mtime > LONG;
}

taper_kept_state taper_kept_begin(const char *path, const char *part, taper_kept_writer *writer)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(part, flags, S_IRUSR | S_IWUSR);
    if (fd < 0 && errno == EEXIST && is_left_alone(part) && unlink(part) == 0) {
        fd = open(part, flags, S_IRUSR | S_IWUSR);
    }
    *writer = (taper_kept_writer){fd, path, part};
    return fd >= 0 ? TAPER_KEPT_BEGUN : errno == EEXIST ? TAPER_KEPT_BUSY : TAPER_KEPT_REFUSED;
}

bool taper_kept_write(taper_kept_writer *writer, const void *data, size_t size)
{
    const char *at = data;
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = write(writer->fd, at + done, size - done);
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
    whole = close(writer->fd) == 0 && whole;
    whole = whole && rename(writer->part, writer->path) == 0;
    if (!whole) {
        (void)unlink(writer->part);
    }
    return whole;
}

// The lock goes with the process, whatever ends it.
static int open_mark(const char *path, int flags)
{
    struct stat info;
    const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR);
    if (fd >= 0 && is_ours(fd, &info) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        return fd;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

bool taper_mark_left(const char *path, void *data, size_t size)
{
    const int fd = open_mark(path, O_RDONLY);
    if (fd < 0) {
        return false;
    }
    const bool whole = read(fd, data, size) == (ssize_t)size;
    (void)close(fd);
    return whole;
}

bool taper_mark_set(const char *path, const void *data, size_t size, taper_mark *mark)
{
    mark->fd = open_mark(path, O_RDWR | O_CREAT);
    if (mark->fd < 0) {
        return false;
    }
    if (ftruncate(mark->fd, 0) != 0 || write(mark->fd, data, size) != (ssize_t)size) {
        taper_mark_clear(path, mark);
        return false;
    }
    return true;
}

void taper_mark_clear(const char *path, taper_mark *mark)
{
    if (mark->fd >= 0) {
        (void)unlink(path); // while it is held
        (void)close(mark->fd);
        mark->fd = -1;
    }
}

struct taper_background {
    taper_allocator allocator;
    void (*work)(void *user);
    void *user;
    pthread_t thread;
};

static void *begin(void *argument)
{
    const taper_background *b = argument;
    b->work(b->user);
    return NULL;
}

bool taper_background_start(const taper_allocator *allocator, void (*work)(void *user), void *user,
                            taper_background **background)
{
    taper_background *b = *background = taper_alloc(allocator, sizeof *b);
    if (b == NULL) {
        return false;
    }
    *b = (taper_background){.allocator = *allocator, .work = work, .user = user};
    // The host's signals are for its own threads.
    sigset_t all, before;
    (void)sigfillset(&all);
    const bool masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    const bool started = pthread_create(&b->thread, NULL, begin, b) == 0;
    if (masked) {
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (!started) {
        taper_free(allocator, b, sizeof *b);
        *background = NULL;
    }
    return started;
}

void taper_background_join(taper_background *background)
{
    if (background != NULL) {
        (void)pthread_join(background->thread, NULL);
        const taper_allocator allocator = background->allocator;
        taper_free(&allocator, background, sizeof *background);
    }
}
