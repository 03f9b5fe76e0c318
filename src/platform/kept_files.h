// SPDX-License-Identifier: BSD-2-Clause
// Files in a directory of the host that a process writes for later processes. A thread writes them while the model
// runs. The functions read a file only if its owner is the user of this process, because that user can do anything to
// this process anyway. A failure is not an error: the file is then missing.
#ifndef TAPER_PLATFORM_KEPT_FILES_H
#define TAPER_PLATFORM_KEPT_FILES_H

#include "platform/platform.h"

// Identifies the state of a file. `identity` is a hash of the file's location, size and times. If `identity` has not
// changed, the file is the same one and was not written to. Times are in seconds since 1970, and `changed` is not
// negative.
typedef struct taper_kept_stamp {
    uint64_t identity;
    int64_t changed, now; // time of the last write, rename or change of mode; time of the call
} taper_kept_stamp;

// Maps a regular file that this user owns and that no other user may write. Returns false if there is no such file.
// `stamp` may be NULL.
bool taper_kept_map(const char *path, taper_mapping *mapping, taper_kept_stamp *stamp);

typedef struct taper_kept_writer {
    int fd;
    // Names of the file and of its temporary file `part`, borrowed; `part` is renamed to `path` when it is complete.
    const char *path, *part;
} taper_kept_writer;

typedef enum taper_kept_state {
    TAPER_KEPT_BEGUN,
    TAPER_KEPT_BUSY,   // another process, or another thread of this process, is writing the temporary file
    TAPER_KEPT_REFUSED // the temporary file cannot be created, locked or overwritten
} taper_kept_state;

// Begins a temporary file `part` for the file `path`, in the same directory. The temporary file is locked while it is
// written. If the writer's process ends, its lock ends too, and the next writer begins the file again. The caller owns
// the names, which must outlive the writer.
taper_kept_state taper_kept_begin(const char *path, const char *part, taper_kept_writer *writer);
// Appends bytes. Returns false if the disk is full or the file would become larger than RLIMIT_FSIZE. The host does not
// receive a signal.
bool taper_kept_write(taper_kept_writer *writer, const void *data, size_t size);
void taper_kept_rewind(taper_kept_writer *writer); // the next write begins at the start of the file
// Ends the temporary file. If `whole` is true and all bytes reach the disk, renames it to the file's name, otherwise
// removes it. Returns true if the file was renamed.
bool taper_kept_end(taper_kept_writer *writer, bool whole);

// A mark is a locked file that exists during an attempt that may end the process. If a mark exists and is not locked,
// the process that made it ended during its attempt.
typedef struct taper_mark {
    int fd; // file descriptor; -1 for no mark
} taper_mark;
// Reads the bytes of a mark that an ended process has left. Returns false if there is no such mark, or if a living
// process holds the mark.
bool taper_mark_left(const char *path, void *data, size_t size);
// Creates the locked file of a mark. Returns false if the file cannot be created or another process has locked it.
bool taper_mark_set(const char *path, const void *data, size_t size, taper_mark *mark);
void taper_mark_clear(const char *path, taper_mark *mark); // does nothing if the descriptor is -1

// taper_background_start starts a thread that is not in the pool and calls work(user). It returns false if the system
// has no threads left or memory is missing. taper_background_join waits for the end of the thread and frees it; NULL is
// allowed.
typedef struct taper_background taper_background;
bool taper_background_start(const taper_allocator *allocator, void (*work)(void *user), void *user,
                            taper_background **background);
void taper_background_join(taper_background *background);

#endif
