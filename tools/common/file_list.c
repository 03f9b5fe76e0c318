// SPDX-License-Identifier: BSD-2-Clause
#include "common/file_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/errors.h"
#include "common/suffix.h"

static bool add_path(file_list *files, const char *folder, const char *name)
{
    if (files->count == files->capacity) {
        const size_t capacity = files->capacity != 0 ? 2 * files->capacity : 64;
        char **paths = realloc(files->paths, capacity * sizeof *paths);
        if (paths == NULL) {
            return error_report_memory(folder);
        }
        files->paths = paths;
        files->capacity = capacity;
    }
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path == NULL) {
        return error_report_memory(folder);
    }
    snprintf(path, size, "%s%s%s", folder, *folder != '\0' && *name != '\0' ? "/" : "", name);
    files->paths[files->count++] = path;
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_folder(file_list *files, const char *folder, const char *suffixes, const char *what)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return error_report(folder, "cannot read: %s", strerror(errno));
    }
    const size_t first = files->count;
    bool done = true;
    for (const struct dirent *entry = readdir(entries); done && entry != NULL; entry = readdir(entries)) {
        if (suffix_among(entry->d_name, suffixes) && entry->d_name[0] != '.') {
            done = add_path(files, folder, entry->d_name);
        }
    }
    closedir(entries);
    if (done && files->count == first) {
        return error_report(folder, "the folder holds no %s: files that end in %s", what, suffixes);
    }
    if (done) {
        qsort(files->paths + first, files->count - first, sizeof *files->paths, compare_paths);
    }
    return done;
}

bool path_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool file_list_add(file_list *files, const char *path, const char *suffixes, const char *what)
{
    return path_is_folder(path) ? add_folder(files, path, suffixes, what) : add_path(files, path, "");
}

void file_list_release(file_list *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->paths[i]);
    }
    free(files->paths);
    *files = (file_list){0};
}
