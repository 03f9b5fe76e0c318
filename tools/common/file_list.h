// SPDX-License-Identifier: BSD-2-Clause
// Files that a user named, one by one or by the folders they lie in.
#ifndef TAPER_TOOLS_FILE_LIST_H
#define TAPER_TOOLS_FILE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct file_list {
    char **paths; // sorted within each folder
    size_t count, capacity;
} file_list;

#define SUFFIXES_THAT_ARE_READ ".png .jpg .jpeg" // as pictures

// A folder's files that end in one of `suffixes`, of which it must have some, or the path itself, whatever it names.
// what: "pictures". Failures are reported.
bool file_list_add(file_list *files, const char *path, const char *suffixes, const char *what);
void file_list_release(file_list *files);
bool path_is_folder(const char *path);

#endif
