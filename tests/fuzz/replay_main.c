// SPDX-License-Identifier: BSD-2-Clause
// Runs a fuzz target on files, and on the files in folders, for machines without libFuzzer.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed;

static int replay_file(const char *path, size_t size)
{
    FILE *in = fopen(path, "rb");
    // The block has exactly the size of the file, so that a sanitizer detects reads beyond its end.
    uint8_t *data = malloc(size != 0 ? size : 1);
    const int good = in != NULL && data != NULL && fread(data, 1, size, in) == size;
    if (good) {
        (void)LLVMFuzzerTestOneInput(data, size);
        replayed++;
    } else {
        (void)fprintf(stderr, "%s cannot be read\n", path);
    }
    free(data);
    if (in != NULL) {
        (void)fclose(in);
    }
    return good;
}

static int replay_folder(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL) {
        (void)fprintf(stderr, "%s cannot be read\n", path);
        return 0;
    }
    int good = 1;
    for (const struct dirent *entry = readdir(directory); entry != NULL && good; entry = readdir(directory)) {
        char file[4096];
        struct stat info;
        if ((size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < sizeof file && stat(file, &info) == 0 &&
            S_ISREG(info.st_mode)) {
            good = replay_file(file, (size_t)info.st_size);
        }
    }
    (void)closedir(directory);
    return good;
}

int main(int argc, char **argv)
{
    int good = 1;
    for (int i = 1; i < argc && good; i++) {
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode)) {
            good = replay_folder(argv[i]);
        } else {
            good = stat(argv[i], &info) == 0 && replay_file(argv[i], (size_t)info.st_size);
        }
    }
    (void)printf("%zu files replayed\n", replayed);
    return good && replayed != 0 ? 0 : 1;
}
