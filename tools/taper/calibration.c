// SPDX-License-Identifier: BSD-2-Clause
#include "taper/calibration.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/input.h"
#include "common/suffix.h"

enum { JSON_LIMIT = 1 << 26 };

#define SAMPLES ".npy .npz .json .png .jpg .jpeg"

static bool add_path(calibration_files *files, const char *folder, const char *name)
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

static bool add_folder(calibration_files *files, const char *folder)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return error_report(folder, "cannot read: %s", strerror(errno));
    }
    const size_t first = files->count;
    bool done = true;
    for (const struct dirent *entry = readdir(entries); done && entry != NULL; entry = readdir(entries)) {
        if (suffix_among(entry->d_name, SAMPLES) && entry->d_name[0] != '.') {
            done = add_path(files, folder, entry->d_name);
        }
    }
    closedir(entries);
    if (done && files->count == first) {
        return error_report(folder, "the folder holds no samples: .npy, .npz, .json, .png, .jpg or .jpeg files");
    }
    if (done) {
        qsort(files->paths + first, files->count - first, sizeof *files->paths, compare_paths);
    }
    return done;
}

bool calibration_add(calibration_files *files, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return error_report(path, "cannot read: %s", strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return add_folder(files, path);
    }
    return suffix_among(path, SAMPLES)
               ? add_path(files, path, "")
               : error_report(path, "samples are .npy, .npz, .json, .png, .jpg and .jpeg files");
}

void calibration_release(calibration_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->paths[i]);
    }
    free(files->paths);
    *files = (calibration_files){0};
}

// ---- inputs

static bool inputs_from_file(const opened_model *opened, const char *path, call_inputs *inputs)
{
    unsigned char *text;
    size_t size;
    if (!file_read(path, JSON_LIMIT, &text, &size)) {
        return false;
    }
    json_value *json = json_parse(path, (const char *)text, size);
    free(text);
    if (json == NULL) {
        return false;
    }
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL && (size_t)(slash - path) < sizeof folder) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    }
    const bool done = json->kind == JSON_ARRAY
                          ? inputs_from_json(opened, NULL, json, folder, 0, inputs)
                          : error_report(path, "must hold an array of inputs, not %s", json_kind_name(json->kind));
    json_free(json);
    return done;
}

bool calibration_inputs(const opened_model *opened, const vision *v, const char *path, call_inputs *inputs)
{
    *inputs = (call_inputs){0};
    if (suffix_among(path, ".json")) {
        return inputs_from_file(opened, path, inputs);
    }
    inputs->values = calloc(1, sizeof *inputs->values);
    if (inputs->values == NULL) {
        return error_report_memory(path);
    }
    bool done;
    if (suffix_among(path, ".npy .npz")) {
        const input_source source = {.context = opened->context, .error = opened->error, .subject = path};
        done = input_tensor_file(&source, path, &inputs->values[0]);
    } else {
        image picture;
        done = image_read(path, &picture);
        if (done) {
            done = vision_prepare(v, opened, path, &picture, &inputs->values[0]);
            image_release(&picture);
        }
    }
    inputs->count = done;
    if (!done) {
        inputs_release(inputs);
    }
    return done;
}
