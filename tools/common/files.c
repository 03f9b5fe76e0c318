// SPDX-License-Identifier: BSD-2-Clause
#ifdef __linux__
#define _GNU_SOURCE // needed for sync_file_range
#endif
#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/errors.h"

static bool read_stream(const char *path, FILE *stream, size_t limit, unsigned char **bytes, size_t *size)
{
    size_t capacity = 65536, used = 0;
    unsigned char *buffer = malloc(capacity);
    while (buffer != NULL) {
        used += fread(buffer + used, 1, capacity - 1 - used, stream);
        if (used < capacity - 1) {
            break;
        }
        if (used > limit) {
            free(buffer);
            return error_report(path, "larger than %zu MiB", limit >> 20);
        }
        capacity *= 2;
        unsigned char *grown = realloc(buffer, capacity);
        if (grown == NULL) {
            free(buffer);
        }
        buffer = grown;
    }
    if (buffer == NULL) {
        return error_report_memory(path);
    }
    if (ferror(stream) || used > limit) {
        free(buffer);
        return used > limit ? error_report(path, "larger than %zu MiB", limit >> 20)
                            : error_report(path, "cannot read: %s", strerror(errno));
    }
    buffer[used] = '\0';
    *bytes = buffer;
    *size = used;
    return true;
}

// With O_NONBLOCK, opening a pipe does not wait for a writer, so that the pipe can be refused.
static FILE *open_regular(const char *path)
{
    errno = 0;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    FILE *stream = NULL;
    if (descriptor < 0) {
        error_report(path, "cannot open: %s", strerror(errno));
        return NULL;
    }
    if (fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        error_report(path, "not a regular file; what a pipe or a device gives is read from a file it was saved to");
    } else {
        stream = fdopen(descriptor, "rb");
        if (stream == NULL) {
            error_report(path, "cannot open: %s", strerror(errno));
        }
    }
    if (stream == NULL) {
        (void)close(descriptor);
    }
    return stream;
}

bool file_read(const char *path, size_t limit, unsigned char **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    FILE *stream = open_regular(path);
    if (stream == NULL) {
        return false;
    }
    const bool done = read_stream(path, stream, limit, bytes, size);
    fclose(stream);
    return done;
}

// The temporary file that a signal handler must remove. Only one output is open at a time.
static char pending[4096];
static volatile sig_atomic_t has_pending;

static void on_signal(int number)
{
    if (has_pending) {
        unlink(pending);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void watch(const char *temporary)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
    if (strlen(temporary) >= sizeof pending) {
        return;
    }
    strcpy(pending, temporary);
    has_pending = 1;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action, old;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        // A signal that is already ignored stays ignored, because programs such as nohup ignore signals on purpose.
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
#ifdef SIGXFSZ
    // With SIGXFSZ ignored, a write beyond `ulimit -f` fails like any other write, with a message and without a partial
    // file.
    signal(SIGXFSZ, SIG_IGN);
#endif
}

static char *copy_text(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

// Returns the target of a symbolic link that points to a missing file, relative to the link's folder. Returns NULL if
// path is no link or memory runs out.
static char *link_target(const char *path)
{
    char text[4096];
    const ssize_t length = readlink(path, text, sizeof text - 1);
    if (length <= 0) {
        return NULL;
    }
    text[length] = '\0';
    const char *slash = strrchr(path, '/');
    const size_t folder = text[0] != '/' && slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *target = malloc(folder + (size_t)length + 1);
    if (target != NULL) {
        memcpy(target, path, folder);
        memcpy(target + folder, text, (size_t)length + 1);
    }
    return target;
}

// Returns the target of a symbolic link, so that renaming a file to it does not replace the link. The target need not
// exist. Returns a copy of path if it is no link.
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    if (real != NULL) {
        return real;
    }
    char *at = copy_text(path);
    for (int links = 0; at != NULL && links < 40; links++) {
        char *target = link_target(at);
        if (target == NULL) {
            break;
        }
        free(at);
        at = target;
    }
    return at;
}

static FILE *open_temporary(output_file *output)
{
    const size_t size = strlen(output->path) + 64;
    output->temporary = malloc(size);
    if (output->temporary == NULL) {
        return NULL;
    }
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(output->temporary, size, "%s.%ld-%u.tmp", output->path, (long)getpid(), attempt);
        // The path is registered for removal by a signal handler before the file exists. The handler can remove it
        // safely, because a file with this name belongs to this process, or to a process that has ended.
        watch(output->temporary);
        const int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (descriptor >= 0) {
            return fdopen(descriptor, "wb");
        }
        has_pending = 0;
        if (errno != EEXIST) {
            break;
        }
    }
    const int reason = errno;
    free(output->temporary);
    output->temporary = NULL;
    errno = reason;
    return NULL;
}

bool output_open(output_file *output, const char *path)
{
    *output = (output_file){.path = resolve(path)};
    if (output->path == NULL) {
        return error_report_memory(path);
    }
    errno = 0;
    struct stat status;
    const bool exists = stat(output->path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
    } else if (exists && ((status.st_mode & 0222) == 0 || access(output->path, W_OK) != 0)) {
        output_discard(output); // fails, because renaming would replace a write-protected file
        return error_report(path, "cannot write: the file is read-only; remove it, or write to another");
    } else if (exists && !S_ISREG(status.st_mode)) {
        output->stream = fopen(output->path, "wb");
    } else {
        output->stream = open_temporary(output);
        if (output->stream != NULL && exists) { // the new file has the permissions of the file it replaces
            (void)fchmod(fileno(output->stream), status.st_mode & 07777);
        }
    }
    if (output->stream == NULL) {
        const int reason = errno;
        output_discard(output);
        return error_report(path, "cannot write: %s", strerror(reason));
    }
    return true;
}

// File systems store the bytes of a renamed file no later than its name, so rename waits until all bytes are on the
// disk. Asking the system to write in steps makes this wait short.
static void start_writing(output_file *output)
{
#if defined(SYNC_FILE_RANGE_WRITE) && !defined(__ANDROID__) // Android has sync_file_range since API 26
    enum { STEP = 2 << 20 };
    if (output->temporary != NULL && output->written - output->started >= STEP) {
        (void)sync_file_range(fileno(output->stream), (off_t)output->started,
                              (off_t)(output->written - output->started), SYNC_FILE_RANGE_WRITE);
        output->started = output->written;
    }
#else
    (void)output;
#endif
}

bool output_write(output_file *output, const void *data, size_t size)
{
    if (fwrite(data, 1, size, output->stream) != size) {
        return false;
    }
    output->written += size;
    start_writing(output);
    return true;
}

bool output_commit(output_file *output)
{
    errno = 0;
    bool done = fflush(output->stream) == 0 && !ferror(output->stream);
    done = fclose(output->stream) == 0 && done;
    output->stream = NULL;
    if (done && output->temporary != NULL) {
        done = rename(output->temporary, output->path) == 0;
        if (done) {
            has_pending = 0;
            free(output->temporary);
            output->temporary = NULL;
        }
    }
    if (!done) {
        error_report(output->path, "cannot write: %s", errno != 0 ? strerror(errno) : "the device is full");
    }
    output_discard(output);
    return done;
}

void output_discard(output_file *output)
{
    if (output->stream != NULL) {
        fclose(output->stream);
    }
    if (output->temporary != NULL) {
        unlink(output->temporary);
        has_pending = 0;
        free(output->temporary);
    }
    free(output->path);
    *output = (output_file){0};
}
