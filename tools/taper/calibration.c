// SPDX-License-Identifier: BSD-2-Clause
#include "taper/calibration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/input.h"
#include "common/suffix.h"

enum { JSON_LIMIT = 1 << 26 };

#define SAMPLES ".npy .npz .json " SUFFIXES_THAT_ARE_READ

bool calibration_add(file_list *files, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return error_report(path, "cannot read: %s", strerror(errno));
    }
    return S_ISDIR(status.st_mode) || suffix_among(path, SAMPLES)
               ? file_list_add(files, path, SAMPLES, "samples")
               : error_report(path, "samples are .npy, .npz, .json, .png, .jpg and .jpeg files");
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
        done = vision_read(v, path, false, &picture);
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
