// SPDX-License-Identifier: BSD-2-Clause
// Files in a directory of the host that a process writes for later processes, and a thread that writes them while the
// model runs. A file is read only if the user of this process owns it, because that user can do anything to this
// process anyway. A failure is not an error: the file is then missing.
#ifndef TAPER_PLATFORM_KEPT_FILES_H
#define TAPER_PLATFORM_KEPT_FILES_H

#include "platform/platform.h"

// Identifies the state of a file. While `identity`, a hash of its place, size and times, is the same, the file is the
// same and was not written to. Times are in seconds since 1970, and `changed` is not negative.
typedef struct taper_kept_stamp {
    uint64_t identity;
    int64_t changed, now; // the last write, rename or change of mode; the time of the call
} taper_kept_stamp;

// Maps a regular file that this user owns and that no other user may write. Returns false if there is no such file.
// stamp may be NULL.
bool taper_kept_map(const char *path, taper_mapping *mapping, taper_kept_stamp *stamp);

typedef struct taper_kept_writer {
    int fd;
    const char *path, *part; // names, borrowed; the part is renamed to path when it is complete
} taper_kept_writer;

typedef enum taper_kept_state {
    TAPER_KEPT_BEGUN,
    TAPER_KEPT_BUSY,   // another process, or another thread of this one, writes the part
    TAPER_KEPT_REFUSED // the part cannot be created, locked or overwritten
} taper_kept_state;

// Begins a new file `part` beside the file at path. The part is locked while it is written. If a writer's process ends,
// its lock ends too, and the next writer begins the part anew. The caller owns the names, which must outlive the
// writer.
taper_kept_state taper_kept_begin(const char *path, const char *part, taper_kept_writer *writer);
// Returns false if the disk is full or the file would become larger than RLIMIT_FSIZE. The host receives no signal.
bool taper_kept_write(taper_kept_writer *writer, const void *data, size_t size);
void taper_kept_rewind(taper_kept_writer *writer); // the next write goes to the beginning
// Renames the part to the file's name if `whole` is true and the bytes reach the disk, otherwise removes the part.
// Returns true if the file is in place.
bool taper_kept_end(taper_kept_writer *writer, bool whole);

// A mark is a locked file that exists during an attempt that may end the process. A mark without a lock was left by a
// process that ended in its attempt.
typedef struct taper_mark {
    int fd; // -1 for no mark
} taper_mark;
// Reads the bytes of a mark that was left. Returns false if there is none, or if a living process holds it.
bool taper_mark_left(const char *path, void *data, size_t size);
// Returns false if the mark cannot be created or another process holds it.
bool taper_mark_set(const char *path, const void *data, size_t size, taper_mark *mark);
void taper_mark_clear(const char *path, taper_mark *mark); // a mark of -1 does nothing

// Starts a thread that is not in the pool and calls work(user). Returns false if the system has none or memory is
// missing. taper_background_join waits for its end and frees it; NULL is allowed.
typedef struct taper_background taper_background;
bool taper_background_start(const taper_allocator *allocator, void (*work)(void *user), void *user,
                            taper_background **background);
void taper_background_join(taper_background *background);

#endif
