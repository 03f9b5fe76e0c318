// SPDX-License-Identifier: BSD-2-Clause
// A list of the files that a user named, directly or by a folder.
#ifndef TAPER_TOOLS_FILE_LIST_H
#define TAPER_TOOLS_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct file_list {
    char **paths; // paths of the files; paths from one folder are sorted
    size_t count, capacity;
} file_list;

#define SUFFIXES_THAT_ARE_READ ".png .jpg .jpeg" // suffixes of pictures that can be read

// Appends the file `path`, whatever its name, or the files of the folder `path` whose names end with one of `suffixes`.
// A folder without such files is a failure. what: word for these files in errors, for example "pictures". Failures are
// reported.
bool file_list_add(file_list *files, const char *path, const char *suffixes, const char *what);
void file_list_release(file_list *files);
bool path_is_folder(const char *path);

#endif
