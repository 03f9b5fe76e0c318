// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes whole files. Output is written to a temporary file in the same folder, which is renamed when it is
// complete. After a failure, or a signal that ends the program, the temporary file is removed.
#ifndef TAPER_TOOLS_FILES_H
#define TAPER_TOOLS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Reads a file. The caller frees *bytes, which are followed by a NUL. Failures are reported. Files of more than `limit`
// bytes are refused. Pipes and devices are refused as well, because they may never end or never send data.
bool file_read(const char *path, size_t limit, unsigned char **bytes, size_t *size);

typedef struct output_file {
    FILE *stream;
    char *path;      // path of the finished file
    char *temporary; // path of the temporary file; NULL if the output is written directly to a device or a pipe
    // Bytes passed to output_write, and how many of them the system was asked to write to the disk.
    size_t written, started;
} output_file;

bool output_open(output_file *output, const char *path);
// Works like fwrite to the output's stream; use it for large files. Returns false, with errno set, if some bytes could
// not be written.
bool output_write(output_file *output, const void *data, size_t size);
bool output_commit(output_file *output);  // closes and renames the temporary file; after a failure no file is left
void output_discard(output_file *output); // removes the temporary file; has no effect after a commit

#endif
