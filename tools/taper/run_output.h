// SPDX-License-Identifier: BSD-2-Clause
// Where the results of `taper run` go: to a file whose name says its format, to stdout as JSON, or to stdout for
// people.
#ifndef TAPER_TOOLS_RUN_OUTPUT_H
#define TAPER_TOOLS_RUN_OUTPUT_H

#include "common/result.h"

typedef enum run_format {
    RUN_NPZ, // also of names that say nothing
    RUN_NPY,
    RUN_JSON,
} run_format;

typedef struct run_output {
    const char *path; // NULL: no file
    bool json;        // to stdout
    bool several;     // results, of --calls or of a folder of inputs
    bool times;       // JSON says how long loading and each call took: the three below
    const char *model;
    double load_ms, ms; // of the next result
    run_format format;
    npz_writer npz;
    output_file file; // of the formats other than .npz
    size_t results;
} run_output;

// ARGS_GO_ON, or the exit status of a name that asks for a format that results are not written in (reported).
int run_output_check(const char *path, bool several, const char *usage);
// Failures of all are reported.
// The members of `start` are what is known before: path, json, several, times, model, load_ms.
bool run_output_open(run_output *output, const run_output *start);
bool run_output_add(run_output *output, const char *name, const taper_value *result, taper_error *error);
// Ends what was written, and keeps the file when `done`; of several results it is kept in any case.
bool run_output_close(run_output *output, bool done);

#endif
