// SPDX-License-Identifier: BSD-2-Clause
// Turns what a user wrote into values: files, numbers made on the spot and JSON, shaped to the type that a method
// declares.
#ifndef TAPER_TOOLS_INPUT_H
#define TAPER_TOOLS_INPUT_H

#include <taper/taper.h>

#include "common/json_value.h"

typedef struct input_source {
    taper_context *context;
    taper_error *error;
    const char *subject; // of reports: "input 0 (x)"
    const char *folder;  // where files are looked for when they are not in the working folder; NULL: nowhere
    size_t number;       // of the input among those of the call
    // Makes a tensor of a PNG or JPEG file, whose failures it reports; NULL: pictures are no inputs here.
    bool (*picture)(void *user, const char *path, taper_value **value);
    void *user;
} input_source;

#define INPUT_FORMS "FILE.npy, FILE.npz, a PNG or JPEG picture, zeros:, ones: or rand:1x3x224x224, or JSON"

// One INPUT of the command line: INPUT_FORMS. type NULL: unknown. Failures are reported.
bool input_from_text(const input_source *source, const char *text, const taper_type *type, taper_value **value);
bool input_from_json(const input_source *source, const json_value *json, const taper_type *type, taper_value **value);
// Whether a text is read as a tensor: the name of a file, by its end, or what input_made.h makes.
bool input_names_tensor(const char *text);
// A file, or what input_made.h makes.
bool input_tensor_file(const input_source *source, const char *path, taper_value **value);

#endif
