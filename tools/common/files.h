// SPDX-License-Identifier: BSD-2-Clause
// Whole files in and out. An output is written beside its destination and renamed when it is complete; a failure, or a
// signal that ends the program, removes the unfinished file.
#ifndef TAPER_TOOLS_FILES_H
#define TAPER_TOOLS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// The caller frees *bytes, which are followed by a NUL. Failures are reported, also when the file is over `limit`
// bytes, or is a pipe or a device, which may have no end or never begin.
bool file_read(const char *path, size_t limit, unsigned char **bytes, size_t *size);

typedef struct output_file {
    FILE *stream;
    char *path;              // where it shall be
    char *temporary;         // where it is now; NULL when it is written in place (a device or a pipe)
    size_t written, started; // by output_write; of these, what the system was asked to bring to the disk
} output_file;

bool output_open(output_file *output, const char *path);
// As fwrite to the stream; for large files. False when not all could be written, with errno set.
bool output_write(output_file *output, const void *data, size_t size);
bool output_commit(output_file *output);  // closes and renames; on failure nothing is left
void output_discard(output_file *output); // after a commit: nothing

#endif
