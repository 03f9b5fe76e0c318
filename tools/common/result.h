// SPDX-License-Identifier: BSD-2-Clause
// Writes the result of a model as an .npz or a .npy file, as JSON or as text. Parts of a structure are named by their
// path: "output", "output.0", "output.key", "output.0.key".
#ifndef TAPER_TOOLS_RESULT_H
#define TAPER_TOOLS_RESULT_H

#include <stdio.h>

#include <taper/taper.h>

#include "common/npz.h"

// A function that is called for each leaf of a value: a tensor, number, string, None or empty container. It returns
// false to stop.
typedef bool (*result_visit)(void *user, const char *path, size_t path_length, const taper_value *leaf);
// Visits all leaves. `name` is the path of the value itself. Failures are reported.
bool result_walk(const char *name, const taper_value *value, taper_error *error, result_visit visit, void *user);

bool result_to_npz(npz_writer *npz, const char *name, const taper_value *value, taper_error *error);
// Writes a result as a .npy file. The result must be a single tensor that is not quantized.
bool result_to_npy(output_file *output, const char *name, const taper_value *value, taper_error *error);
bool result_to_json(FILE *stream, const char *subject, const taper_value *value, taper_error *error);
bool result_to_text(FILE *stream, const char *name, const taper_value *value, taper_error *error);

#endif
