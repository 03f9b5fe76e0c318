// SPDX-License-Identifier: BSD-2-Clause
// Turns what a user wrote into values: .npy files and JSON, shaped to the type that a method declares.
#ifndef TAPER_TOOLS_INPUT_H
#define TAPER_TOOLS_INPUT_H

#include <taper/taper.h>

#include "common/json_value.h"

typedef struct input_source {
    taper_context *context;
    taper_error *error;
    const char *subject; // of reports: "input 0 (x)"
    const char *folder;  // where files are looked for when they are not in the working folder; NULL: nowhere
} input_source;

// One INPUT of the command line: FILE.npy, or JSON. type NULL: unknown. Failures are reported.
bool input_from_text(const input_source *source, const char *text, const char *type, taper_value **value);
bool input_from_json(const input_source *source, const json_value *json, const char *type, taper_value **value);
bool input_tensor_file(const input_source *source, const char *path, taper_value **value);

#endif
