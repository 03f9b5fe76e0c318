// SPDX-License-Identifier: BSD-2-Clause
// Files that a process makes for those that come after it, in a directory of the host's, and a thread that does so
// beside the runs. Such a file is only ever taken from somebody who could do anything to this process anyway: the user
// it runs as. What goes wrong is no error: then there is no such file.
#ifndef TAPER_PLATFORM_KEPT_FILES_H
#define TAPER_PLATFORM_KEPT_FILES_H

#include "platform/platform.h"

// What tells a file from what it was: it is the one that it was, and nobody has written to it since, while `identity`
// is the same (of its place, size and times). changed, now: seconds since 1970; changed is not below 0.
typedef struct taper_kept_stamp {
    uint64_t identity;
    int64_t changed, now; // when it was last written to, renamed or given another mode; when this was asked
} taper_kept_stamp;

// Maps a regular file of this user's, which nobody else may write to; false: there is none. stamp: NULL: nobody asks.
bool taper_kept_map(const char *path, taper_mapping *mapping, taper_kept_stamp *stamp);

typedef struct taper_kept_writer {
    int fd;
    const char *path, *part; // the part becomes the file when it is whole
} taper_kept_writer;

typedef enum taper_kept_state {
    TAPER_KEPT_BEGUN,
    TAPER_KEPT_BUSY,   // another process, or another thread of this one, writes it
    TAPER_KEPT_REFUSED // the part cannot be made, locked or overwritten
} taper_kept_state;

// Begins a new file beside the one at path. The part is locked while it is written: the lock of a
// writer whose process ended is gone with it, and the next writer begins the part anew. The names
// stay the caller's.
taper_kept_state taper_kept_begin(const char *path, const char *part, taper_kept_writer *writer);
// Returns false if the disk is full, or the file would become larger than RLIMIT_FSIZE: no signal
// reaches the host.
bool taper_kept_write(taper_kept_writer *writer, const void *data, size_t size);
void taper_kept_rewind(taper_kept_writer *writer); // what is written next goes to its beginning
// Puts the part in the file's place when `whole` and its bytes are on the disk, else removes it.
bool taper_kept_end(taper_kept_writer *writer, bool whole);

// A mark: a file that is there, and held, while something is tried from which the process may not come back. One that
// nobody holds was left by a process that ended meanwhile.
typedef struct taper_mark {
    int fd; // -1: none
} taper_mark;
// Reads what was written into a mark that is left; false: there is none, or a living process holds it.
bool taper_mark_left(const char *path, void *data, size_t size);
// False: it cannot be made, or another process holds it.
bool taper_mark_set(const char *path, const void *data, size_t size, taper_mark *mark);
void taper_mark_clear(const char *path, taper_mark *mark); // {-1}: nothing

// A thread apart from the pool's. False: the system has none.
typedef struct taper_background taper_background;
bool taper_background_start(const taper_allocator *allocator, void (*work)(void *user), void *user,
                            taper_background **background);
void taper_background_join(taper_background *background); // and is gone

#endif
