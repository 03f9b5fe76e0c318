// SPDX-License-Identifier: BSD-2-Clause
// Converts inputs that a user wrote to values. Such an input is a file name, a text for generated numbers, or JSON. The
// method's declared type decides the conversion.
#ifndef TAPER_TOOLS_INPUT_H
#define TAPER_TOOLS_INPUT_H

#include <taper/taper.h>

#include "common/json_value.h"

typedef struct input_source {
    taper_context *context;
    taper_error *error;
    const char *subject; // subject of error messages, for example "input 0 (x)"
    const char *folder;  // a second folder to look for files, after the working folder; NULL for none
    size_t number;       // index of the input in the call
    // Makes a tensor of a PNG or JPEG file and reports failures. The pointer is NULL if pictures are not allowed as
    // inputs.
    bool (*picture)(void *user, const char *path, taper_value **value);
    void *user;
} input_source;

#define INPUT_FORMS "FILE.npy, FILE.npz, a PNG or JPEG picture, zeros:, ones: or rand:1x3x224x224, or JSON"

// These functions read one input: input_from_text in one of INPUT_FORMS from the command line, input_from_json from
// JSON. type is NULL if it is unknown. Failures are reported.
bool input_from_text(const input_source *source, const char *text, const taper_type *type, taper_value **value);
bool input_from_json(const input_source *source, const json_value *json, const taper_type *type, taper_value **value);
// Returns true if the text will be read as a tensor: it is the name of a file with a known suffix, or a text for
// input_made.h.
bool input_names_tensor(const char *text);
// Reads a tensor from a file, or makes it with input_made.h.
bool input_tensor_file(const input_source *source, const char *path, taper_value **value);

#endif
